import { TextField } from '../../ui/forms.tsx'

export type Proof = { password: string; code: string }

export const emptyProof: Proof = { password: '', code: '' }

type ProofProps = { proof: Proof; onChange: (proof: Proof) => void }

/** Whoever sits at an open console is not yet the one who opened it. */
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
      // No pad of digits: a recovery code has letters.
      hint="Six digits from your authenticator, or a recovery code."
      autocomplete="one-time-code"
      required
      value={proof.code}
      onText={(code) => onChange({ ...proof, code })}
    />
  </>
)

export const trimProof = ({ password, code }: Proof) => ({ password, code: code.trim() })
