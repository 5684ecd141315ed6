import { series } from 'virtual:series'
import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { humanize, pluralize } from '../../format.ts'
import { useQuery } from '../../query.ts'
import { Button } from '../../ui/basics.tsx'
import { Chooser, type ChooserOption } from '../../ui/chooser.tsx'

export type SampleCounts = Record<string, number>

/** How many samples came in of each resource that is drawn over time. */
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

/** What is looked at first: the heart, else whatever most came in of. */
export function defaultResource(sampleCounts: SampleCounts) {
  const [largest] = Object.entries(sampleCounts).sort(([, a], [, b]) => b - a)
  return sampleCounts['heartrate'] || !largest ? 'heartrate' : largest[0]
}

/** Every resource of the contract; those that there is data of come first. */
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
