import { useCallback, useState } from 'preact/hooks'
import type { Method } from '../../../../src/contract/labs/lifecycle.ts'
import { api } from '../../api.ts'
import { isSandbox } from '../../clock.ts'
import { type Told, useEvents } from '../../live.ts'
import { refresh, useQuery } from '../../query.ts'
import type { PageProps } from '../../routes.ts'
import { may } from '../../session.ts'
import { Card, Id, Time } from '../../ui/basics.tsx'
import { Detail } from '../../ui/detail.tsx'
import { Head } from '../../ui/head.tsx'
import { revealing } from '../../ui/reveal.tsx'
import { Tabs, useTab } from '../../ui/tabs.tsx'
import { lowOf, methodWords } from '../../words.ts'
import { CancelOrder, RescheduleOrder } from './actions.tsx'
import { Documents } from './documents.tsx'
import { EventHistory } from './history.tsx'
import { Lifecycle } from './lifecycle.tsx'
import type { Order } from './list.tsx'
import { Results } from './results.tsx'
import { OrderSide } from './side.tsx'
import { Simulator } from './simulator.tsx'
import { hasResults, OrderStatus } from './status.tsx'

export function OrderDetail({ params: { order_id = '' } }: PageProps) {
  const [reason, setReason] = useState<string | null>(null)
  const order = useQuery(`order:${order_id}${reason ? '?revealed' : ''}`, () =>
    api.getOrder({ params: { order_id }, ...revealing(reason) }),
  )
  useEvents(
    useCallback(
      ({ data }: Told) => {
        if (data.id === order_id || data.order_id === order_id) refresh(`order:${order_id}`, `results:${order_id}`, 'orders')
      },
      [order_id],
    ),
  )
  return (
    <Detail of={order} what="Order" up={['/orders', 'Orders']}>
      {(order) => <Found order={order} reason={reason} onReveal={setReason} />}
    </Detail>
  )
}

type FoundProps = { order: Order; reason: string | null; onReveal: (reason: string | null) => void }

function Found({ order, reason, onReveal }: FoundProps) {
  const { lab_test, last_event, details, created_at } = order
  const tab = useTab(['results', 'history', 'documents'], hasResults(order) ? 'results' : 'history')
  const canSimulate = isSandbox() && (may('sandbox.advance') || may('data.change'))
  return (
    <>
      <Head
        up={['/orders', 'Orders']}
        title={lab_test.name}
        actions={
          may('data.change') && (
            <>
              <RescheduleOrder order={order} />
              <CancelOrder order={order} />
            </>
          )
        }
      >
        <span class="row wrap">
          <OrderStatus status={last_event.status} />
          <span>{methodWords[details.type]}</span>
          <span>
            placed <Time at={created_at} />
          </span>
          <Id id={order.id} what="order id" />
        </span>
      </Head>
      <div class="columns">
        <div class="stack">
          <Card title="Lifecycle">
            <Lifecycle method={details.type as Method} low={lowOf(last_event.status)} events={order.events} />
          </Card>
          {canSimulate && <Simulator order={order} />}
          <div>
            <Tabs
              label="About the order"
              tabs={[
                ['results', 'Results'],
                ['history', 'History'],
                ['documents', 'Documents'],
              ]}
              on={tab}
            />
            {tab === 'results' && <Results order={order} />}
            {tab === 'history' && <EventHistory order={order} />}
            {tab === 'documents' && <Documents order={order} reason={reason} onReveal={onReveal} />}
          </div>
        </div>
        <OrderSide order={order} revealed={reason !== null} onReveal={onReveal} />
      </div>
    </>
  )
}
