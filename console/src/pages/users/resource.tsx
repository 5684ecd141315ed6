import { series } from 'virtual:series'
import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { useQuery } from '../../query.ts'
import { Button } from '../../ui/basics.tsx'
import { Chooser, type Found } from '../../ui/chooser.tsx'
import { plural, words } from '../../words.ts'

export type Known = Record<string, number>

/** How many samples came in of each resource that is drawn over time. */
export function useResources(user_id: string) {
  return useQuery(`resources:${user_id}`, async (): Promise<Known> => {
    const { data } = await api.getUserResources({ query: { user_id } })
    const counts: Known = {}
    for (const source of Object.values(data[0]?.provider ?? {}))
      for (const [name, { sent_count }] of Object.entries(source))
        if (name in series) counts[name] = (counts[name] ?? 0) + (sent_count ?? 0)
    return counts
  })
}

/** What is looked at first: the heart, else whatever most came in of. */
export function firstOf(known: Known) {
  const [most] = Object.entries(known).sort(([, a], [, b]) => b - a)
  return known['heartrate'] || !most ? 'heartrate' : most[0]
}

/** Every resource of the contract; those that there is data of come first. */
function matching(known: Known, text: string, onChoose: (resource: string) => void): Found[] {
  const wanted = text.trim().toLowerCase()
  return [...Object.keys(known).sort(), ...Object.keys(series).filter((name) => !(name in known))]
    .map((resource) => {
      const hint = resource in known ? plural(known[resource] ?? 0, 'sample') : 'No data yet'
      return { name: words(resource), hint, choose: () => onChoose(resource) }
    })
    .filter(({ name }) => name.toLowerCase().includes(wanted))
}

type ResourceProps = { known: Known; resource: string; onChoose: (resource: string) => void }

export function Resource({ known, resource, onChoose }: ResourceProps) {
  const [open, setOpen] = useState(false)
  return (
    <>
      <Button small aria-haspopup="dialog" aria-label={`Resource: ${words(resource)}`} onClick={() => setOpen(true)}>
        {words(resource)} ▾
      </Button>
      {open && (
        <Chooser
          label="Resource"
          placeholder="Heart rate, glucose, …"
          find={(text) => matching(known, text, onChoose)}
          onClose={() => setOpen(false)}
        />
      )}
    </>
  )
}
