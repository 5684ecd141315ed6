import { useState } from 'preact/hooks'
import { Outside } from '../frame/outside.tsx'
import { useStore } from '../observable.ts'
import { go, usePath } from '../router.tsx'
import { lastKind, session, signIn } from '../session.ts'
import { Button, Notice } from '../ui/basics.tsx'
import { TextField } from '../ui/forms.tsx'
import { useSubmit } from '../ui/submit.ts'
import { ProofFields, sentProof } from './account/proof.tsx'

const ways = [
  ['person', 'Person'],
  ['management', 'Management key'],
  ['team', 'Team key'],
] as const
type Way = (typeof ways)[number][0]

/** A fresh sandbox has keys and nobody in it yet. */
const firstWay = (): Way => ways.map(([way]) => way).find((way) => way === lastKind()) ?? (isOfSandbox() ? 'management' : 'person')

const isOfSandbox = () => document.querySelector<HTMLMetaElement>('meta[name="environment"]')?.content === 'sandbox'

/** The service speaks of headers, which nobody sees here. */
const refusals: Record<string, string> = {
  INVALID_MANAGEMENT_KEY: 'This management key is unknown or was revoked. Check that all of it was copied.',
  INVALID_API_KEY: 'This team API key is unknown or was revoked. Check that all of it was copied.',
  API_KEY_EXPIRED: 'This team API key has expired. Sign in with another one, or with a management key to create one.',
  TEAM_KEY_NOT_ALLOWED: 'This is a team API key. Choose “Team key” above to sign in with it.',
  MANAGEMENT_KEY_NOT_ALLOWED: 'This is a management key. Choose “Management key” above to sign in with it.',
  LAB_KEY_NOT_ALLOWED: 'This is the key of a lab, which does not open the console. Sign in with a management key or a team key.',
}

const noFields = { key: '', email: '', password: '', code: '' }
type Fields = typeof noFields

export function SignIn() {
  const [way, setWay] = useState(firstWay)
  const [fields, setFields] = useState(noFields)
  const path = usePath()
  const ended = useStore(session) === null && path !== '/sign-in' && path !== '/'
  const set = (part: Partial<Fields>) => setFields({ ...fields, ...part })
  const { busy, error, send } = useSubmit(async () => {
    await signIn(credentialOf(way, fields))
    if (path === '/sign-in') go('/', { replace: true })
  })
  return (
    <Outside title="Sign in">
      <form class="stack" onSubmit={send}>
        {ended && !error && <Notice tone="idle">Sign in to go on to the page that you asked for.</Notice>}
        <div class="chips" role="group" aria-label="How to sign in">
          {ways.map(([value, name]) => (
            <button key={value} type="button" class="chip" aria-pressed={way === value} onClick={() => setWay(value)}>
              {name}
            </button>
          ))}
        </div>
        {way === 'person' ? (
          <>
            <TextField
              label="E-mail"
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
            label={way === 'management' ? 'Management key' : 'Team API key'}
            hint={
              way === 'management'
                ? 'Opens every team that the key may manage.'
                : 'Opens its own team. Pages of the organisation stay hidden.'
            }
            type="password"
            autocomplete="off"
            spellcheck={false}
            required
            value={fields.key}
            onText={(key) => set({ key })}
          />
        )}
        {error && <Notice tone="bad">{refusals[error.error_type ?? ''] ?? error.message}</Notice>}
        <Button type="submit" kind="primary" disabled={busy} aria-busy={busy}>
          Sign in
        </Button>
        {way !== 'person' && (
          <p class="small muted">
            The first start writes both keys into <code>credentials.json</code> in the data folder. A key stays in this browser only as a
            session that ends by itself.
          </p>
        )}
      </form>
    </Outside>
  )
}

const credentialOf = (way: Way, { key, email, ...proof }: Fields) => {
  if (way === 'management') return { management_key: key.trim() }
  if (way === 'team') return { team_api_key: key.trim() }
  return { email: email.trim(), ...sentProof(proof) }
}
