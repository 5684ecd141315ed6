import type { ComponentChildren } from 'preact'
import { setSearchParams, useSearchParams } from '../router.tsx'

/** Reads the tab from the URL and ignores unknown values. */
export function useTab(values: string[], fallback = values[0]) {
  const requested = useSearchParams().get('tab') ?? ''
  return values.includes(requested) ? requested : fallback
}

type TabsProps = { label: string; tabs: [value: string, name: ComponentChildren][]; current: string | undefined }

export const Tabs = ({ label, tabs, current }: TabsProps) => (
  <nav class="tabs" aria-label={label}>
    {tabs.map(([value, name]) => (
      <a
        key={value}
        href={`?tab=${value}`}
        {...(current === value ? { 'aria-current': 'page' as const } : {})}
        onClick={(event) => {
          event.preventDefault()
          setSearchParams({ tab: value })
        }}
      >
        {name}
      </a>
    ))}
  </nav>
)
