import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { formatAddress, formatDate, humanize } from '../../format.ts'
import { useQuery } from '../../query.ts'
import { Card, DescriptionList, EmptyState } from '../../ui/basics.tsx'
import { Reveal, revealHeaders } from '../../ui/reveal.tsx'
import { QueryView } from '../../ui/table.tsx'

export function Demographics({ user_id }: { user_id: string }) {
  const [reason, setReason] = useState<string | null>(null)
  const info = useQuery(`info:${user_id}${reason ? '?revealed' : ''}`, () =>
    api.getUserInfo({ params: { user_id }, ...revealHeaders(reason) }),
  )
  if (info.error?.status === 404)
    return (
      <Card bare title="Demographics">
        <EmptyState title="No demographics">Add them with the user's first order or with PATCH /v2/user/{'{user_id}'}/info.</EmptyState>
      </Card>
    )
  return (
    <Card
      bare
      title="Demographics"
      actions={info.data && <Reveal isRevealed={reason !== null} onReveal={setReason} onMask={() => setReason(null)} />}
    >
      <QueryView query={info}>
        {(info) => (
          <div class="body">
            <DescriptionList
              items={[
                ['Name', `${info.first_name} ${info.last_name}`],
                ['Date of birth', formatDate(info.dob)],
                ['Gender', humanize(info.gender)],
                ['Phone', info.phone_number],
                ['Email', info.email],
                ['Address', formatAddress(info.address)],
                ['Race', humanize(info.race)],
                ['Ethnicity', humanize(info.ethnicity)],
              ]}
            />
          </div>
        )}
      </QueryView>
    </Card>
  )
}
