import { TextField } from '../../ui/forms.tsx'

type Proof = { password: string; code: string }

export const emptyProof: Proof = { password: '', code: '' }

type ProofProps = { proof: Proof; onChange: (proof: Proof) => void }

/** Sensitive changes ask for the password again, because a console may be left unattended. */
export const ProofFields = ({ proof, onChange }: ProofProps) => (
  <>
    <TextField
      label="Password"
      type="password"
      autocomplete="current-password"
      required
      value={proof.password}
      onText={(password) => onChange({ ...proof, password })}
    />
    <TextField
      label="Code"
      // No numeric keypad, because a recovery code has letters.
      hint="The 6-digit code from your authenticator, or a recovery code."
      autocomplete="one-time-code"
      required
      value={proof.code}
      onText={(code) => onChange({ ...proof, code })}
    />
  </>
)

export const trimProof = ({ password, code }: Proof) => ({ password, code: code.trim() })
