import { useState } from 'preact/hooks'
import { SignedOutCard } from '../frame/signed-out-card.tsx'
import { useObservable } from '../observable.ts'
import { navigate, usePath, useSearchParams } from '../router.tsx'
import { lastSignInKind, session, signIn } from '../session.ts'
import { Button, Notice } from '../ui/basics.tsx'
import { TextField } from '../ui/forms.tsx'
import { useSubmit } from '../ui/submit.ts'
import { ProofFields, trimProof } from './account/proof.tsx'

const methods = [
  ['person', 'Email'],
  ['management', 'Management key'],
  ['team', 'Team API key'],
] as const
type Method = (typeof methods)[number][0]

/** A new sandbox has keys but no members. */
const initialMethod = (): Method =>
  methods.map(([method]) => method).find((method) => method === lastSignInKind()) ?? (isSandboxPage() ? 'management' : 'person')

const isSandboxPage = () => document.querySelector<HTMLMetaElement>('meta[name="environment"]')?.content === 'sandbox'

/** The API's messages name headers, which do not help on this form. */
const errorMessages: Record<string, string> = {
  INVALID_MANAGEMENT_KEY: 'This management key is invalid or revoked. Check that you copied the whole key.',
  INVALID_API_KEY: 'This team API key is invalid or revoked. Check that you copied the whole key.',
  API_KEY_EXPIRED: 'This team API key has expired. Sign in with another key, or use a management key to create one.',
  TEAM_KEY_NOT_ALLOWED: 'This is a team API key. Select “Team API key” above to sign in with it.',
  MANAGEMENT_KEY_NOT_ALLOWED: 'This is a management key. Select “Management key” above to sign in with it.',
  LAB_KEY_NOT_ALLOWED: 'Lab keys cannot sign in to the console. Use a management key or a team API key.',
}

const hasSso = () => document.querySelector<HTMLMetaElement>('meta[name="sso"]')?.content === 'on'

const ssoMessages: Record<string, string> = {
  SSO_FAILED: 'Single sign-on failed. Try again. If it fails again, ask your administrator to check the provider.',
  SSO_NO_EMAIL: 'Your provider sends no verified email address. Ask your administrator to add it to your account there.',
  SSO_NO_ROLE: 'Your account has no access to this console. Ask your administrator to add you to a group.',
  SSO_OTHER_ACCOUNT: 'Another account has your email address. Sign in with your password, or ask an administrator to remove that account.',
}

const emptyFields = { key: '', email: '', password: '', code: '' }
type Fields = typeof emptyFields

export function SignIn() {
  const [method, setMethod] = useState(initialMethod)
  const [fields, setFields] = useState(emptyFields)
  const path = usePath()
  const ssoMessage = ssoMessages[useSearchParams().get('sso') ?? '']
  const isRedirected = useObservable(session) === null && path !== '/sign-in' && path !== '/'
  const set = (part: Partial<Fields>) => setFields({ ...fields, ...part })
  const { isBusy, error, submit } = useSubmit(async () => {
    await signIn(buildCredential(method, fields))
    if (path === '/sign-in') navigate('/', { replace: true })
  })
  return (
    <SignedOutCard title="Sign in">
      <form class="stack" onSubmit={submit}>
        {ssoMessage && !error && <Notice tone="bad">{ssoMessage}</Notice>}
        {hasSso() && <Button onClick={() => location.assign('/console/sso/start')}>Continue with single sign-on</Button>}
        {isRedirected && !error && <Notice tone="idle">Sign in to continue to the page you requested.</Notice>}
        <div class="chips" role="group" aria-label="How to sign in">
          {methods.map(([value, name]) => (
            <button key={value} type="button" class="chip" aria-pressed={method === value} onClick={() => setMethod(value)}>
              {name}
            </button>
          ))}
        </div>
        {method === 'person' ? (
          <>
            <TextField
              label="Email"
              type="email"
              autocomplete="username"
              required
              value={fields.email}
              onText={(email) => set({ email })}
            />
            <ProofFields proof={fields} onChange={set} />
          </>
        ) : (
          <TextField
            label={method === 'management' ? 'Management key' : 'Team API key'}
            hint={
              method === 'management'
                ? 'Gives access to every team that the key can manage.'
                : 'Gives access to one team. Organization pages are hidden.'
            }
            type="password"
            autocomplete="off"
            spellcheck={false}
            required
            value={fields.key}
            onText={(key) => set({ key })}
          />
        )}
        {error && <Notice tone="bad">{errorMessages[error.error_type ?? ''] ?? error.message}</Notice>}
        <Button type="submit" kind="primary" disabled={isBusy} aria-busy={isBusy}>
          Sign in
        </Button>
        {method !== 'person' && (
          <p class="small muted">
            {isSandboxPage() && (
              <>
                Both keys are in <code>credentials.json</code> in the data folder.{' '}
              </>
            )}
            The browser stores a session cookie, not the key.
          </p>
        )}
      </form>
    </SignedOutCard>
  )
}

const buildCredential = (method: Method, { key, email, ...proof }: Fields) => {
  if (method === 'management') return { management_key: key.trim() }
  if (method === 'team') return { team_api_key: key.trim() }
  return { email: email.trim(), ...trimProof(proof) }
}
