import { api } from '../../api.ts'
import { useQuery } from '../../query.ts'
import type { PageProps } from '../../routes.ts'
import { Card, Facts, Json } from '../../ui/basics.tsx'
import { Head } from '../../ui/head.tsx'
import { Loaded } from '../../ui/table.tsx'

export function EventTypePage({ params: { event_type = '' } }: PageProps) {
  const type = useQuery(`event-type:${event_type}`, () => api.getEventType({ params: { event_type } }))
  return (
    <>
      <Head up={['/events', 'Event types']} title={event_type} />
      <Loaded of={type}>
        {({ description, key, schema, example }) => (
          <div class="stack">
            <Card title="About">
              <Facts
                of={[
                  ['Says', description],
                  ['Keeps its order by', <code>{key}</code>],
                ]}
              />
            </Card>
            <div class="halves">
              <Card title="Example">
                <Json label="Example" value={example} />
              </Card>
              <Card title="JSON Schema">
                <Json label="JSON Schema" value={schema} />
              </Card>
            </div>
          </div>
        )}
      </Loaded>
    </>
  )
}
