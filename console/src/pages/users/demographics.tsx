import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { useQuery } from '../../query.ts'
import { Card, Empty, Facts } from '../../ui/basics.tsx'
import { Reveal, revealing } from '../../ui/reveal.tsx'
import { Loaded } from '../../ui/table.tsx'
import { day, words } from '../../words.ts'

export function Demographics({ user_id }: { user_id: string }) {
  const [reason, setReason] = useState<string | null>(null)
  const info = useQuery(`info:${user_id}${reason ? '?revealed' : ''}`, () => api.getUserInfo({ params: { user_id }, ...revealing(reason) }))
  if (info.error?.status === 404)
    return (
      <Card bare title="Demographics">
        <Empty title="None recorded">They come with the first order, or by PATCH /v2/user/…/info.</Empty>
      </Card>
    )
  return (
    <Card
      bare
      title="Demographics"
      actions={info.data && <Reveal revealed={reason !== null} onReveal={setReason} onMask={() => setReason(null)} />}
    >
      <Loaded of={info}>
        {(info) => (
          <div class="body">
            <Facts
              of={[
                ['Name', `${info.first_name} ${info.last_name}`],
                ['Born', day(info.dob)],
                ['Gender', words(info.gender)],
                ['Phone', info.phone_number],
                ['E-mail', info.email],
                [
                  'Address',
                  [info.address.first_line, info.address.second_line, info.address.city, info.address.state, info.address.zip]
                    .filter(Boolean)
                    .join(', '),
                ],
                ['Race', words(info.race)],
                ['Ethnicity', words(info.ethnicity)],
              ]}
            />
          </div>
        )}
      </Loaded>
    </Card>
  )
}
