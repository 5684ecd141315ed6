import { useCallback, useState } from 'preact/hooks'
import type { Method } from '../../../../src/contract/labs/lifecycle.ts'
import { api } from '../../api.ts'
import { isSandbox } from '../../clock.ts'
import { type TeamEvent, useEvents } from '../../event-stream.ts'
import { lowLevelOf, methodLabels } from '../../format.ts'
import { refresh, useQuery } from '../../query.ts'
import type { PageProps } from '../../routes.ts'
import { can } from '../../session.ts'
import { Card, Id, Time } from '../../ui/basics.tsx'
import { DetailPage } from '../../ui/detail-page.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { revealHeaders } from '../../ui/reveal.tsx'
import { Tabs, useTab } from '../../ui/tabs.tsx'
import { CancelOrder, RescheduleOrder } from './actions.tsx'
import { OrderDocuments } from './documents.tsx'
import { EventHistory } from './history.tsx'
import { Lifecycle } from './lifecycle.tsx'
import type { Order } from './list.tsx'
import { OrderMessages } from './messages.tsx'
import { Results } from './results.tsx'
import { OrderSidebar } from './sidebar.tsx'
import { Simulator } from './simulator.tsx'
import { hasResults, OrderStatus } from './status.tsx'

export function OrderDetail({ params: { order_id = '' } }: PageProps) {
  const [reason, setReason] = useState<string | null>(null)
  const order = useQuery(`order:${order_id}${reason ? '?revealed' : ''}`, () =>
    api.getOrder({ params: { order_id }, ...revealHeaders(reason) }),
  )
  useEvents(
    useCallback(
      ({ data }: TeamEvent) => {
        if (data.id === order_id || data.order_id === order_id) refresh(`order:${order_id}`, `results:${order_id}`, 'orders')
      },
      [order_id],
    ),
  )
  return (
    <DetailPage query={order} title="Order" up={['/orders', 'Orders']}>
      {(order) => <OrderView order={order} reason={reason} onReveal={setReason} />}
    </DetailPage>
  )
}

type OrderViewProps = { order: Order; reason: string | null; onReveal: (reason: string | null) => void }

function OrderView({ order, reason, onReveal }: OrderViewProps) {
  const { lab_test, last_event, details, created_at } = order
  const tab = useTab(['results', 'history', 'documents', 'messages'], hasResults(order) ? 'results' : 'history')
  const canSimulate = isSandbox() && can('sandbox.advance')
  return (
    <>
      <PageHeader
        up={['/orders', 'Orders']}
        title={lab_test.name}
        actions={
          can('data.change') && (
            <>
              <RescheduleOrder order={order} />
              <CancelOrder order={order} />
            </>
          )
        }
      >
        <span class="row wrap">
          <OrderStatus status={last_event.status} />
          <span>{methodLabels[details.type]}</span>
          <span>
            Placed <Time at={created_at} />
          </span>
          <Id id={order.id} what="order ID" />
        </span>
      </PageHeader>
      <div class="columns">
        <div class="stack">
          <Card title="Lifecycle">
            <Lifecycle method={details.type as Method} low={lowLevelOf(last_event.status)} events={order.events} />
          </Card>
          {canSimulate && <Simulator order={order} />}
          <div>
            <Tabs
              label="Order sections"
              tabs={[
                ['results', 'Results'],
                ['history', 'History'],
                ['documents', 'Documents'],
                ['messages', 'Messages'],
              ]}
              current={tab}
            />
            {tab === 'results' && <Results order={order} />}
            {tab === 'history' && <EventHistory order={order} />}
            {tab === 'documents' && <OrderDocuments order={order} reason={reason} onReveal={onReveal} />}
            {tab === 'messages' && <OrderMessages order={order} />}
          </div>
        </div>
        <OrderSidebar order={order} isRevealed={reason !== null} onReveal={onReveal} />
      </div>
    </>
  )
}
