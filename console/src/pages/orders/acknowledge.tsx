import { api } from '../../api.ts'
import { humanize } from '../../format.ts'
import { refresh, useQuery } from '../../query.ts'
import { can } from '../../session.ts'
import { AsyncButton, Notice, Time } from '../../ui/basics.tsx'
import { showToast } from '../../ui/toasts.tsx'

/** Acknowledges the version that the page shows. A newer one stays open. */
export async function acknowledge({ order_id, result_version }: { order_id: string; result_version: number }) {
  const { acknowledged_at } = await api.acknowledgeCritical({ params: { order_id }, body: { result_version } })
  refresh('overview', `critical:${order_id}`)
  showToast(acknowledged_at ? 'Critical result acknowledged.' : 'Acknowledged. A newer report has a critical result too.')
}

export function CriticalNotice({ order_id }: { order_id: string }) {
  const critical = useQuery(`critical:${order_id}`, () => api.getCriticalResult({ params: { order_id } }))
  if (!critical.data) return null
  const { acknowledged_at, acknowledged_by, reported_at, result_version } = critical.data
  if (acknowledged_at)
    return (
      <Notice tone="idle">
        Critical result acknowledged <Time at={acknowledged_at} isRealTime /> by {acknowledged_by?.name ?? humanize(acknowledged_by?.type)}.
      </Notice>
    )
  return (
    <Notice tone="bad">
      <span class="row wrap">
        <span>
          Critical result reported <Time at={reported_at} />. Not acknowledged yet.
        </span>
        {can('critical.acknowledge') && (
          <AsyncButton small action={() => acknowledge({ order_id, result_version })}>
            Acknowledge
          </AsyncButton>
        )}
      </span>
    </Notice>
  )
}
