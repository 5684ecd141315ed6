import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { refresh } from '../../query.ts'
import { deploymentParams } from '../../session.ts'
import { Button, Card } from '../../ui/basics.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { Table } from '../../ui/table.tsx'
import { teamName } from '../../ui/teams.tsx'
import { showToast } from '../../ui/toasts.tsx'

type Break = Awaited<ReturnType<typeof api.verifyAuditLog>>['breaks'][number]

const rowsOf = ({ seq, to }: Break) => (to > seq ? `${seq} to ${to}` : `${seq}`)

/** Parts of the log that cannot be trusted, until somebody acknowledges them. */
export function Breaks({ breaks }: { breaks: Break[] }) {
  const { org_id } = deploymentParams()
  const [chosen, setChosen] = useState<Break>()
  return (
    <Card bare label="Breaks of the audit log">
      <Table
        label="Breaks of the audit log"
        rows={breaks}
        keyOf={({ chain_id, seq, to }) => `${chain_id} ${seq} ${to}`}
        columns={[
          { name: 'Chain', cell: ({ chain_id }) => (chain_id === org_id ? 'Organization' : teamName(chain_id)) },
          { name: 'Rows', cell: rowsOf },
          { name: 'Reason', wide: true, cell: ({ reason }) => reason },
          {
            name: 'Actions',
            right: true,
            cell: (found) => (
              <Button small onClick={() => setChosen(found)} aria-label={`Acknowledge rows ${rowsOf(found)}`}>
                Acknowledge
              </Button>
            ),
          },
        ]}
      />
      {chosen && <Acknowledge found={chosen} onClose={() => setChosen(undefined)} />}
    </Card>
  )
}

function Acknowledge({ found, onClose }: { found: Break; onClose: () => void }) {
  const { org_id } = deploymentParams()
  const { chain_id, seq, to } = found
  const acknowledge = async () => {
    await api.acknowledgeAuditBreak({ params: { org_id }, body: { chain_id, seq, to } })
    refresh('audit')
    onClose()
    showToast('Break acknowledged.')
  }
  return (
    <FormDialog title={`Acknowledge rows ${rowsOf(found)}?`} submit="Acknowledge" danger onClose={onClose} onSubmit={acknowledge}>
      <p>First find out who changed the database. Verification then accepts this break, and the alert ends. You cannot undo this.</p>
      <p>The audit log records that you acknowledged it.</p>
    </FormDialog>
  )
}
