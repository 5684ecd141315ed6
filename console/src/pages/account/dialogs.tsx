import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { refresh } from '../../query.ts'
import { Button } from '../../ui/basics.tsx'
import { Dialog, FormDialog } from '../../ui/dialog.tsx'
import { say } from '../../ui/toasts.tsx'
import { noProof, ProofFields, sentProof } from './proof.tsx'
import { Authenticator, NewCode, NewPassword, RecoveryCodes } from './secrets.tsx'

type Closing = { onClose: () => void }

export function ChangePassword({ onClose }: Closing) {
  const [proof, setProof] = useState(noProof)
  const [next, setNext] = useState('')
  const change = async () => {
    await api.changePassword({ body: { ...sentProof(proof), new_password: next } })
    refresh('account')
    onClose()
    say('The password is changed, and everywhere else you are signed out.')
  }
  return (
    <FormDialog title="Change password" submit="Change" onClose={onClose} onSubmit={change}>
      <ProofFields proof={proof} onChange={setProof} />
      <NewPassword label="New password" value={next} onText={setNext} />
    </FormDialog>
  )
}

/** The old authenticator is good until the new one has shown a code. */
export function ReplaceAuthenticator({ onClose }: Closing) {
  const [proof, setProof] = useState(noProof)
  const [code, setCode] = useState('')
  const [secret, setSecret] = useState<Awaited<ReturnType<typeof api.renewSecondFactor>>>()
  const [codes, setCodes] = useState<string[]>()
  const begin = async () => setSecret(await api.renewSecondFactor({ body: sentProof(proof) }))
  const confirm = async () => {
    setCodes((await api.confirmSecondFactor({ body: { code: code.trim() } })).recovery_codes)
    refresh('account')
  }
  if (codes) return <NewCodes codes={codes} onClose={onClose} />
  if (!secret)
    return (
      <FormDialog key="begin" title="Replace the authenticator" submit="Go on" onClose={onClose} onSubmit={begin}>
        <ProofFields proof={proof} onChange={setProof} />
      </FormDialog>
    )
  return (
    <FormDialog key="confirm" title="Scan with the new authenticator" submit="Replace" onClose={onClose} onSubmit={confirm}>
      <Authenticator of={secret} />
      <NewCode value={code} onText={setCode} />
    </FormDialog>
  )
}

export function RenewCodes({ onClose }: Closing) {
  const [proof, setProof] = useState(noProof)
  const [codes, setCodes] = useState<string[]>()
  const renew = async () => {
    setCodes((await api.renewRecoveryCodes({ body: sentProof(proof) })).recovery_codes)
    refresh('account')
  }
  if (codes) return <NewCodes codes={codes} onClose={onClose} />
  return (
    <FormDialog title="New recovery codes" submit="Make new codes" onClose={onClose} onSubmit={renew}>
      <p class="muted">Those that you have now stop working.</p>
      <ProofFields proof={proof} onChange={setProof} />
    </FormDialog>
  )
}

const NewCodes = ({ codes, onClose }: Closing & { codes: string[] }) => (
  <Dialog title="Keep these codes" onClose={onClose}>
    <RecoveryCodes codes={codes} />
    <div class="actions">
      <Button kind="primary" onClick={onClose}>
        I have kept them
      </Button>
    </div>
  </Dialog>
)
