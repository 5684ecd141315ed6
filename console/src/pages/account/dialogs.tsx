import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { refresh } from '../../query.ts'
import { Button } from '../../ui/basics.tsx'
import { Dialog, FormDialog } from '../../ui/dialog.tsx'
import { showToast } from '../../ui/toasts.tsx'
import { emptyProof, ProofFields, trimProof } from './proof.tsx'
import { AuthenticatorSetup, NewCode, NewPassword, RecoveryCodes } from './secrets.tsx'

type DialogProps = { onClose: () => void }

export function ChangePasswordDialog({ onClose }: DialogProps) {
  const [proof, setProof] = useState(emptyProof)
  const [newPassword, setNewPassword] = useState('')
  const change = async () => {
    await api.changePassword({ body: { ...trimProof(proof), new_password: newPassword } })
    refresh('account')
    onClose()
    showToast('Password changed. Your other sessions are signed out.')
  }
  return (
    <FormDialog title="Change password" submit="Change password" onClose={onClose} onSubmit={change}>
      <ProofFields proof={proof} onChange={setProof} />
      <NewPassword label="New password" value={newPassword} onText={setNewPassword} />
    </FormDialog>
  )
}

/** The old authenticator works until a code of the new one is confirmed. */
export function ReplaceAuthenticatorDialog({ onClose }: DialogProps) {
  const [proof, setProof] = useState(emptyProof)
  const [code, setCode] = useState('')
  const [secret, setSecret] = useState<Awaited<ReturnType<typeof api.renewSecondFactor>>>()
  const [codes, setCodes] = useState<string[]>()
  const begin = async () => setSecret(await api.renewSecondFactor({ body: trimProof(proof) }))
  const confirm = async () => {
    setCodes((await api.confirmSecondFactor({ body: { code: code.trim() } })).recovery_codes)
    refresh('account')
  }
  if (codes) return <NewCodesDialog codes={codes} onClose={onClose} />
  if (!secret)
    return (
      <FormDialog key="begin" title="Replace authenticator" submit="Continue" onClose={onClose} onSubmit={begin}>
        <ProofFields proof={proof} onChange={setProof} />
      </FormDialog>
    )
  return (
    <FormDialog key="confirm" title="Set up the new authenticator" submit="Replace authenticator" onClose={onClose} onSubmit={confirm}>
      <AuthenticatorSetup secret={secret} />
      <NewCode value={code} onText={setCode} />
    </FormDialog>
  )
}

export function RenewCodesDialog({ onClose }: DialogProps) {
  const [proof, setProof] = useState(emptyProof)
  const [codes, setCodes] = useState<string[]>()
  const renew = async () => {
    setCodes((await api.renewRecoveryCodes({ body: trimProof(proof) })).recovery_codes)
    refresh('account')
  }
  if (codes) return <NewCodesDialog codes={codes} onClose={onClose} />
  return (
    <FormDialog title="Generate new recovery codes" submit="Generate new codes" onClose={onClose} onSubmit={renew}>
      <p class="muted">Your current codes stop working.</p>
      <ProofFields proof={proof} onChange={setProof} />
    </FormDialog>
  )
}

const NewCodesDialog = ({ codes, onClose }: DialogProps & { codes: string[] }) => (
  <Dialog title="Save your recovery codes" onClose={onClose}>
    <RecoveryCodes codes={codes} />
    <div class="actions">
      <Button kind="primary" onClick={onClose}>
        I've saved these codes
      </Button>
    </div>
  </Dialog>
)
