import { CopyButton } from '../../ui/basics.tsx'
import { TextField } from '../../ui/forms.tsx'
import { QrCode } from '../../ui/qr-code.tsx'

type Secret = { totp_secret: string; totp_uri: string }

/** The secret of a second factor, to be scanned or typed into an authenticator. */
export const AuthenticatorSetup = ({ secret: { totp_secret, totp_uri } }: { secret: Secret }) => (
  <div class="field">
    <span class="label">Second factor: scan this with an authenticator app</span>
    <QrCode text={totp_uri} label="QR code of the second factor; the secret below says the same" />
    <span class="small muted">or enter this secret:</span>
    <div class="secret">
      <code class="grow">{totp_secret}</code>
      <CopyButton text={totp_secret} what="secret" />
    </div>
    <a class="small" href={totp_uri}>
      Open it in an authenticator on this device
    </a>
  </div>
)

type CodeInput = { value: string; onText: (text: string) => void }

export const NewPassword = ({ label, ...input }: CodeInput & { label: string }) => (
  <TextField
    label={label}
    type="password"
    autocomplete="new-password"
    hint="At least 12 characters; a sentence that only you know."
    required
    {...input}
  />
)

/** The first code of a new authenticator. */
export const NewCode = (input: CodeInput) => (
  <TextField
    label="Code"
    hint="Six digits that the new app shows now."
    inputMode="numeric"
    autocomplete="one-time-code"
    required
    {...input}
  />
)

export const RecoveryCodes = ({ codes }: { codes: string[] }) => (
  <>
    <p class="muted">Each of them signs you in once if your authenticator is lost. They are not shown again.</p>
    <div class="secret">
      <code class="grow">{codes.join(' ')}</code>
      <CopyButton text={codes.join('\n')} what="recovery codes" />
    </div>
  </>
)
