import type { ButtonHTMLAttributes, ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { offset, teamNow, useTicks } from '../clock.ts'
import { ago, exact, short } from '../words.ts'
import { Icon } from './icons.tsx'
import { say } from './toasts.tsx'

type ButtonProps = { kind?: 'primary' | 'plain' | 'danger'; small?: boolean } & ButtonHTMLAttributes

export const Button = ({ kind, small, class: more, children, ...rest }: ButtonProps) => (
  <button type="button" {...rest} class={['button', kind, small && 'small', more].filter(Boolean).join(' ')}>
    {children}
  </button>
)

/** A button whose work takes a while: pressed once, it waits for the end and says what failed. */
export function Doing({ act, children, ...rest }: { act: () => Promise<unknown> } & ButtonProps) {
  const [busy, setBusy] = useState(false)
  const press = async () => {
    setBusy(true)
    await act().catch((error: Error) => say(error.message, { tone: 'bad' }))
    setBusy(false)
  }
  return (
    <Button {...rest} disabled={busy || Boolean(rest.disabled)} aria-busy={busy} onClick={press}>
      {children}
    </Button>
  )
}

export type Tone = 'good' | 'warn' | 'bad' | 'info' | 'idle' | 'accent'

export const Status = ({ tone, children }: { tone: Tone; children: ComponentChildren }) => (
  <span class={`status tone-${tone}`}>{children}</span>
)

/** Relative, with the exact moment on hover. Most moments lie on the team's clock; `real` ones do not. */
export function Time({ at, real = false }: { at: string; real?: boolean }) {
  useTicks()
  const now = real ? teamNow() - offset.get() : teamNow()
  return (
    <time dateTime={at} title={`${exact(at)}\n${at}`}>
      {ago(at, now)}
    </time>
  )
}

export function Copy({ text, what }: { text: string; what: string }) {
  const [done, setDone] = useState(false)
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
    } catch {
      return say(`The browser did not let the ${what} be copied; select it and copy it by hand.`, { tone: 'bad' })
    }
    setDone(true)
    setTimeout(() => setDone(false), 1500)
  }
  return (
    <button type="button" class="copy" onClick={copy} aria-label={done ? 'Copied' : `Copy ${what}`} title={`Copy ${what}`}>
      <Icon name={done ? 'done' : 'copy'} />
    </button>
  )
}

export const Id = ({ id, what = 'id' }: { id: string; what?: string }) => (
  <span class="id" title={id}>
    {short(id)}
    <Copy text={id} what={what} />
  </span>
)

type CardProps = { title?: ComponentChildren; actions?: ComponentChildren; children: ComponentChildren; bare?: boolean; label?: string }

export const Card = ({ title, actions, children, bare, label }: CardProps) => (
  <section class="card" aria-label={label ?? (typeof title === 'string' ? title : undefined)}>
    {(title || actions) && (
      <header>
        <h2>{title}</h2>
        {actions}
      </header>
    )}
    {bare ? children : <div class="body">{children}</div>}
  </section>
)

type EmptyProps = { title: string; children?: ComponentChildren; actions?: ComponentChildren }

export const Empty = ({ title, children, actions }: EmptyProps) => (
  <div class="empty">
    <strong>{title}</strong>
    {children && <p>{children}</p>}
    {actions && <div class="row wrap">{actions}</div>}
  </div>
)

export const Notice = ({ tone, children }: { tone: Tone; children: ComponentChildren }) => (
  <div class={`notice tone-${tone}`} role={tone === 'bad' ? 'alert' : 'status'}>
    <div>{children}</div>
  </div>
)

export const Facts = ({ of }: { of: [name: string, value: ComponentChildren][] }) => (
  <dl class="facts">
    {of
      .filter(([, value]) => value !== null && value !== undefined && value !== '')
      .map(([name, value]) => (
        <>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </>
      ))}
  </dl>
)

export const Json = ({ value, label }: { value: unknown; label: string }) => (
  // A region that scrolls must be reachable by keyboard.
  // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
  <pre class="json" tabIndex={0} role="region" aria-label={label}>
    {typeof value === 'string' ? value : JSON.stringify(value, null, 2)}
  </pre>
)

export const Skeleton = ({ lines = 4 }: { lines?: number }) => (
  <div class="stack tight" aria-busy="true" role="status">
    <span class="sr">Loading</span>
    {Array.from({ length: lines }, (_, i) => (
      <div key={i} class="skeleton" style={{ width: `${[92, 70, 84, 56][i % 4]}%` }} />
    ))}
  </div>
)

/** A name with dots, which may be broken behind each. */
export const Dotted = ({ name }: { name: string }) => (
  <>
    {name.split('.').map((part, i) => (
      <>
        {i > 0 && (
          <>
            .<wbr />
          </>
        )}
        {part}
      </>
    ))}
  </>
)
