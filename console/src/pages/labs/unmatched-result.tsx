import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { formatDate, humanize, shortId } from '../../format.ts'
import { refresh, useQuery } from '../../query.ts'
import { Link } from '../../router.tsx'
import type { PageProps } from '../../routes.ts'
import { can } from '../../session.ts'
import { Button, Card, DescriptionList, EmptyState, Id, Notice, Time } from '../../ui/basics.tsx'
import { DetailPage } from '../../ui/detail-page.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { AreaField, Checkbox, SelectField } from '../../ui/forms.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Reveal, revealHeaders } from '../../ui/reveal.tsx'
import { showToast } from '../../ui/toasts.tsx'
import { Candidate, type Comparison } from './candidate.tsx'
import { ReportedDocuments, Values } from './reported-content.tsx'
import { Interpretation, patientOf, ReviewStatus } from './unmatched.tsx'

type Compared = Awaited<ReturnType<typeof api.compareUnmatchedResult>>
type Result = Compared['result']

const up: [string, string] = ['/unmatched-results', 'Unmatched results']

export function UnmatchedResultDetail({ params: { raw_result_id = '' } }: PageProps) {
  const [reason, setReason] = useState<string | null>(null)
  const compared = useQuery(`unmatched-result:${raw_result_id}${reason ? '?revealed' : ''}`, () =>
    api.compareUnmatchedResult({ params: { raw_result_id }, ...revealHeaders(reason) }),
  )
  return (
    <DetailPage query={compared} title="Unmatched result" up={up}>
      {(compared) => <ResultView compared={compared} reason={reason} onReveal={setReason} />}
    </DetailPage>
  )
}

type ViewProps = { compared: Compared; reason: string | null; onReveal: (reason: string | null) => void }

function ResultView({ compared: { result, values, documents, comparisons }, reason, onReveal }: ViewProps) {
  const [accepting, setAccepting] = useState<Comparison>()
  const [isResolving, setIsResolving] = useState(false)
  const canAccept = can('data.change') && result.allowed_actions.includes('accept')
  const canResolve = can('data.change') && result.allowed_actions.includes('reject')
  return (
    <>
      <PageHeader
        up={up}
        title={`Result from ${result.lab.name}`}
        actions={canResolve && <Button onClick={() => setIsResolving(true)}>Resolve without an order</Button>}
      >
        <span class="row wrap">
          <ReviewStatus status={result.status} action={result.resolution_action} />
          <Interpretation value={result.interpretation} />
          <span>
            Received <Time at={result.created_at} />
          </span>
          <Id id={result.id} what="result ID" />
        </span>
      </PageHeader>
      <div class="columns">
        <div class="stack">
          <Values values={values} documents={documents} />
          <ReportedDocuments raw_result_id={result.id} documents={documents} reason={reason} onReveal={onReveal} />
          {comparisons.map((comparison) => (
            <Candidate
              key={comparison.order_id}
              comparison={comparison}
              {...(canAccept ? { onAccept: () => setAccepting(comparison) } : {})}
            />
          ))}
          {!comparisons.length && (
            <Card bare label="Candidates">
              <EmptyState title="No candidates">
                No order of the team has this number, or a patient with this name and birth date. Import an order of the lab first, or
                resolve the result.
              </EmptyState>
            </Card>
          )}
        </div>
        <About result={result} isRevealed={reason !== null} onReveal={onReveal} />
      </div>
      {accepting && <Accept result={result} comparison={accepting} onClose={() => setAccepting(undefined)} />}
      {isResolving && <Resolve result={result} onClose={() => setIsResolving(false)} />}
    </>
  )
}

type AboutProps = { result: Result; isRevealed: boolean; onReveal: ViewProps['onReveal'] }

const About = ({ result, isRevealed, onReveal }: AboutProps) => (
  <Card title="In the message" actions={<Reveal isRevealed={isRevealed} onReveal={onReveal} onMask={() => onReveal(null)} />}>
    <DescriptionList
      items={[
        ['Why', result.reason],
        ['Patient', patientOf(result)],
        ['Date of birth', result.patient?.dob && formatDate(result.patient.dob)],
        ['Sex', result.patient?.gender],
        ['Report', humanize(result.result_status)],
        ['Tests', result.markers.map(({ name, provider_id }) => name ?? provider_id).join(', ')],
        ['Note', result.note],
        [
          'Filed on',
          result.resolved_order_id && <Link to={`/orders/${result.resolved_order_id}`}>{shortId(result.resolved_order_id)}</Link>,
        ],
        ['Reviewed', result.reviewed_at && <Time at={result.reviewed_at} />],
      ]}
    />
  </Card>
)

const done = (text: string) => {
  refresh('unmatched-result', 'order')
  showToast(text)
}

const NOTE_HINT = 'Stored encrypted with the result. At most 2,000 characters.'

function Accept({ result, comparison, onClose }: { result: Result; comparison: Comparison; onClose: () => void }) {
  const [note, setNote] = useState('')
  const [isDone, setIsDone] = useState(false)
  const isRecreation = comparison.files_on === 'recreation'
  const namesOf = (fields: { field: string; agrees: boolean }[]) =>
    fields.filter(({ agrees }) => !agrees).map(({ field }) => humanize(field))
  const [ofPatient, ofOrder] = [namesOf(comparison.patient), namesOf(comparison.order)]
  const accept = async () => {
    const body = {
      order_id: comparison.order_id,
      ...(note.trim() ? { note: note.trim() } : {}),
      ...(isDone ? { completes_order: true } : {}),
    }
    const order = await api.acceptUnmatchedResult({ params: { raw_result_id: result.id }, body })
    onClose()
    done(`Result filed with order ${shortId(order.id)}.`)
  }
  return (
    <FormDialog
      title={isRecreation ? 'Accept as a new order' : 'Accept result'}
      submit={isRecreation ? 'Accept as new order' : 'Accept'}
      disabled={comparison.needs_note && !note.trim()}
      onClose={onClose}
      onSubmit={accept}
    >
      <p>
        {isRecreation
          ? `Order ${shortId(comparison.order_id)} has ended or has other results. A new order in the same transaction gets the result. The lab does not get this order.`
          : `Order ${shortId(comparison.order_id)} gets the result, and its patient and your webhooks see it.`}
      </p>
      {ofPatient.length > 0 && (
        <Notice tone="bad">These patient fields differ: {ofPatient.join(', ')}. Explain in the note why it is the same person.</Notice>
      )}
      {ofOrder.length > 0 && <p class="muted">These order fields differ: {ofOrder.join(', ')}.</p>}
      <Checkbox label="Complete the order, because the lab has reported everything" value={isDone} onChange={setIsDone} />
      <AreaField label="Note" hint={NOTE_HINT} value={note} maxLength={2000} required={comparison.needs_note} onText={setNote} />
    </FormDialog>
  )
}

function Resolve({ result, onClose }: { result: Result; onClose: () => void }) {
  const actions = result.allowed_actions.filter((action) => action !== 'accept')
  const [action, setAction] = useState(actions[0] ?? 'reject')
  const [note, setNote] = useState('')
  const resolve = async () => {
    await api.resolveUnmatchedResult({
      params: { raw_result_id: result.id },
      body: { action: action as 'reject' | 'unsure', note: note.trim() },
    })
    onClose()
    done(action === 'reject' ? 'Result rejected.' : 'Result left for someone else.')
  }
  return (
    <FormDialog title="Resolve result" submit="Resolve" disabled={!note.trim()} onClose={onClose} onSubmit={resolve}>
      <SelectField
        label="Decision"
        value={action}
        options={actions.map((action): [string, string] => [action, decisions[action] ?? humanize(action)])}
        onSelect={(action) => setAction(action as (typeof actions)[number])}
      />
      <AreaField label="Reason" hint={NOTE_HINT} value={note} maxLength={2000} required onText={setNote} />
    </FormDialog>
  )
}

const decisions: Record<string, string> = {
  reject: 'Reject: it belongs to no patient of the team',
  unsure: 'Unsure: someone else decides',
}
