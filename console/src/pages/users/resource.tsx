import { series } from 'virtual:series'
import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { humanize, pluralize } from '../../format.ts'
import { useQuery } from '../../query.ts'
import { Button } from '../../ui/basics.tsx'
import { Chooser, type ChooserOption } from '../../ui/chooser.tsx'

type SampleCounts = Record<string, number>

/** Loads sample counts for each resource that can be charted. */
export function useResources(user_id: string) {
  return useQuery(`resources:${user_id}`, async (): Promise<SampleCounts> => {
    const { data } = await api.getUserResources({ query: { user_id } })
    const counts: SampleCounts = {}
    for (const source of Object.values(data[0]?.provider ?? {}))
      for (const [name, { sent_count }] of Object.entries(source))
        if (name in series) counts[name] = (counts[name] ?? 0) + (sent_count ?? 0)
    return counts
  })
}

/** Heart rate if there is any, otherwise the resource with the most samples. */
export function defaultResource(sampleCounts: SampleCounts) {
  const [largest] = Object.entries(sampleCounts).sort(([, a], [, b]) => b - a)
  return sampleCounts['heartrate'] || !largest ? 'heartrate' : largest[0]
}

/** Lists every resource, those with data first. */
function findResources(sampleCounts: SampleCounts, text: string, onSelect: (resource: string) => void): ChooserOption[] {
  const query = text.trim().toLowerCase()
  return [...Object.keys(sampleCounts).sort(), ...Object.keys(series).filter((name) => !(name in sampleCounts))]
    .map((resource) => {
      const hint = resource in sampleCounts ? pluralize(sampleCounts[resource] ?? 0, 'sample') : 'No data yet'
      return { name: humanize(resource), hint, choose: () => onSelect(resource) }
    })
    .filter(({ name }) => name.toLowerCase().includes(query))
}

type ResourcePickerProps = { sampleCounts: SampleCounts; resource: string; onSelect: (resource: string) => void }

export function ResourcePicker({ sampleCounts, resource, onSelect }: ResourcePickerProps) {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <>
      <Button small aria-haspopup="dialog" aria-label={`Resource: ${humanize(resource)}`} onClick={() => setIsOpen(true)}>
        {humanize(resource)} ▾
      </Button>
      {isOpen && (
        <Chooser
          label="Resource"
          placeholder="Heart rate, glucose, …"
          find={(text) => findResources(sampleCounts, text, onSelect)}
          onClose={() => setIsOpen(false)}
        />
      )}
    </>
  )
}
