import { useState } from 'preact/hooks'
import type { Failure } from '../api.ts'
import { Brand } from '../frame/brand.tsx'
import { go, usePath } from '../router.tsx'
import { session, signIn } from '../session.ts'
import { useStore } from '../store.ts'
import { Button, Notice } from '../ui/basics.tsx'
import { TextField } from '../ui/forms.tsx'

const ways = [
  ['person', 'Person'],
  ['management', 'Management key'],
  ['team', 'Team key'],
] as const
type Way = (typeof ways)[number][0]

export function SignIn() {
  const [way, setWay] = useState<Way>('person')
  const [fields, setFields] = useState({ key: '', email: '', password: '', code: '' })
  const [error, setError] = useState<Failure>()
  const [busy, setBusy] = useState(false)
  const path = usePath()
  const ended = useStore(session) === null && path !== '/sign-in' && path !== '/'
  const set = (name: keyof typeof fields) => (text: string) => setFields({ ...fields, [name]: text })
  const enter = async (event: Event) => {
    event.preventDefault()
    setBusy(true)
    setError(undefined)
    await signIn(credentialOf(way, fields)).then(() => path === '/sign-in' && go('/', { replace: true }), setError)
    setBusy(false)
  }
  return (
    <div class="sign-in">
      <main>
        <div class="brand">
          <Brand /> Assay
        </div>
        <form class="card stack" onSubmit={enter}>
          <h1>Sign in</h1>
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
              <TextField label="E-mail" type="email" autocomplete="username" required value={fields.email} onText={set('email')} />
              <TextField
                label="Password"
                type="password"
                autocomplete="current-password"
                required
                value={fields.password}
                onText={set('password')}
              />
              <TextField
                label="Code"
                hint="Six digits from your authenticator, or a recovery code."
                inputMode="numeric"
                autocomplete="one-time-code"
                value={fields.code}
                onText={set('code')}
              />
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
              onText={set('key')}
            />
          )}
          {error && <Notice tone="bad">{error.message}</Notice>}
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
      </main>
    </div>
  )
}

const credentialOf = (way: Way, { key, email, password, code }: Record<'key' | 'email' | 'password' | 'code', string>) => {
  if (way === 'management') return { management_key: key.trim() }
  if (way === 'team') return { team_api_key: key.trim() }
  return { email: email.trim(), password, ...(code.trim() ? { code: code.trim() } : {}) }
}
