import type { api } from '../../api.ts'
import { formatDate, formatPercent, humanize, shortId } from '../../format.ts'
import { Link } from '../../router.tsx'
import { Button, Card, Status, type Tone } from '../../ui/basics.tsx'
import { Icon } from '../../ui/icons.tsx'

export type Comparison = Awaited<ReturnType<typeof api.compareUnmatchedResult>>['comparisons'][number]

const tones: Record<string, Tone> = { high: 'good', medium: 'warn', low: 'idle' }

const acceptLabels: Record<string, string> = { order: 'Accept', recreation: 'Accept as new order' }

/** The message of the lab and an order, field by field. */
export const Candidate = ({ comparison, onAccept }: { comparison: Comparison; onAccept?: () => void }) => {
  const { order_id, test, status, ordered_at, score, confidence, reasons, files_on } = comparison
  const accept = acceptLabels[files_on]
  return (
    <Card
      bare
      label={`Order ${shortId(order_id)}`}
      title={
        <span class="row wrap">
          <Link to={`/orders/${order_id}`}>Order {shortId(order_id)}</Link>
          <Status tone={tones[confidence] ?? 'idle'}>{`${formatPercent(score)} match`}</Status>
        </span>
      }
      actions={
        onAccept &&
        accept && (
          <Button small kind={files_on === 'order' ? 'primary' : 'plain'} onClick={onAccept}>
            {accept}
          </Button>
        )
      }
    >
      <p class="body small muted">
        {test}, {humanize(status).toLowerCase()}, ordered {formatDate(ordered_at)}. {reasons.map(humanize).join(', ')}.
        {files_on === 'nothing' && ' The order is at another lab, so it cannot take the result.'}
      </p>
      <div class="scroll">
        <table class="compared">
          <caption class="sr">{`The message and order ${shortId(order_id)}`}</caption>
          <thead>
            <tr>
              <th scope="col">Field</th>
              <th scope="col">Message</th>
              <th scope="col">Order</th>
            </tr>
          </thead>
          <tbody>
            {comparison.patient.map((row) => (
              <ComparedField key={row.field} row={row} isPatient />
            ))}
            {comparison.order.map((row) => (
              <ComparedField key={row.field} row={row} />
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  )
}

type Field = { field: string; reported: string | null; ordered: string | null; agrees: boolean }

/** A patient field that differs is red, because the result may belong to someone else. */
const ComparedField = ({ row: { field, reported, ordered, agrees }, isPatient = false }: { row: Field; isPatient?: boolean }) => (
  <tr class={isPatient && !agrees ? 'differs' : ''}>
    <th scope="row">
      <span class={`row agreement tone-${agrees ? 'good' : 'bad'}`}>
        <Icon name={agrees ? 'done' : 'close'} />
        <span>
          {humanize(field)}
          <span class="sr">{agrees ? ', agrees' : ', differs'}</span>
        </span>
      </span>
    </th>
    <td class="breaks">{reported ?? <span class="faint">None</span>}</td>
    <td class="breaks">{ordered ?? <span class="faint">None</span>}</td>
  </tr>
)
