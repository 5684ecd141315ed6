import { api } from '../../api.ts'
import { useQuery } from '../../query.ts'
import type { PageProps } from '../../routes.ts'
import { Card, DescriptionList, Json, TextWithCode } from '../../ui/basics.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { QueryView } from '../../ui/table.tsx'

export function EventTypePage({ params: { event_type = '' } }: PageProps) {
  const type = useQuery(`event-type:${event_type}`, () => api.getEventType({ params: { event_type } }))
  return (
    <>
      <PageHeader up={['/events', 'Event types']} title={event_type} />
      <QueryView query={type}>
        {({ description, key, schema, example }) => (
          <div class="stack">
            <Card title="About">
              <DescriptionList
                items={[
                  ['Description', <TextWithCode text={description} />],
                  ['Ordering key', <code>{key}</code>],
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
      </QueryView>
    </>
  )
}
