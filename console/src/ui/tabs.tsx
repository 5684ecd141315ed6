import type { ComponentChildren } from 'preact'
import { setSearch, useSearch } from '../router.tsx'

/** Which part is shown; the address says it, and may say anything. */
export function useTab(known: string[], first = known[0]) {
  const named = useSearch().get('tab') ?? ''
  return known.includes(named) ? named : first
}

type TabsProps = { label: string; tabs: [value: string, name: ComponentChildren][]; on: string | undefined }

export const Tabs = ({ label, tabs, on }: TabsProps) => (
  <nav class="tabs" aria-label={label}>
    {tabs.map(([value, name]) => (
      <a
        key={value}
        href={`?tab=${value}`}
        {...(on === value ? { 'aria-current': 'page' as const } : {})}
        onClick={(event) => {
          event.preventDefault()
          setSearch({ tab: value })
        }}
      >
        {name}
      </a>
    ))}
  </nav>
)
