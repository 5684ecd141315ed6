import { Copy } from '../../ui/basics.tsx'
import { Qr } from '../../ui/qr.tsx'

type Secret = { totp_secret: string; totp_uri: string }

/** The secret of a second factor, to be scanned or typed into an authenticator. */
export const Authenticator = ({ of: { totp_secret, totp_uri } }: { of: Secret }) => (
  <div class="field">
    <span class="label">Second factor: scan this with an authenticator app</span>
    <Qr text={totp_uri} label="QR code of the second factor; the secret below says the same" />
    <span class="small muted">or enter this secret:</span>
    <div class="secret">
      <code class="grow">{totp_secret}</code>
      <Copy text={totp_secret} what="secret" />
    </div>
    <a class="small" href={totp_uri}>
      Open it in an authenticator on this device
    </a>
  </div>
)

export const RecoveryCodes = ({ codes }: { codes: string[] }) => (
  <>
    <p class="muted">Each of them signs you in once if your authenticator is lost. They are not shown again.</p>
    <div class="secret">
      <code class="grow">{codes.join(' ')}</code>
      <Copy text={codes.join('\n')} what="recovery codes" />
    </div>
  </>
)
