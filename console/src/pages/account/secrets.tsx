import { CopyButton } from '../../ui/basics.tsx'
import { TextField } from '../../ui/forms.tsx'
import { QrCode } from '../../ui/qr-code.tsx'

type Secret = { totp_secret: string; totp_uri: string }

export const AuthenticatorSetup = ({ secret: { totp_secret, totp_uri } }: { secret: Secret }) => (
  <div class="field">
    <span class="label">Scan this QR code with an authenticator app</span>
    <QrCode text={totp_uri} label="QR code of the authenticator secret below" />
    <span class="small muted">Or enter this secret:</span>
    <div class="secret">
      <code class="grow">{totp_secret}</code>
      <CopyButton text={totp_secret} what="secret" />
    </div>
    <a class="small" href={totp_uri}>
      Open in an authenticator on this device
    </a>
  </div>
)

type CodeInput = { value: string; onText: (text: string) => void }

export const NewPassword = ({ label, ...input }: CodeInput & { label: string }) => (
  <TextField
    label={label}
    type="password"
    autocomplete="new-password"
    hint="At least 12 characters. A long phrase works well."
    required
    {...input}
  />
)

export const NewCode = (input: CodeInput) => (
  <TextField
    label="Code"
    hint="The 6-digit code that the app shows now."
    inputMode="numeric"
    autocomplete="one-time-code"
    required
    {...input}
  />
)

export const RecoveryCodes = ({ codes }: { codes: string[] }) => (
  <>
    <p class="muted">If you lose your authenticator, each code signs you in once. The codes are not shown again.</p>
    <div class="secret">
      <code class="grow">{codes.join(' ')}</code>
      <CopyButton text={codes.join('\n')} what="recovery codes" />
    </div>
  </>
)
