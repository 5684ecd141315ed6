import type { ButtonHTMLAttributes, ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { clockOffset, teamNow, useTicks } from '../clock.ts'
import { formatDateTime, formatRelativeTime, shortId } from '../format.ts'
import { Icon } from './icons.tsx'
import { showToast } from './toasts.tsx'

type ButtonProps = { kind?: 'primary' | 'plain' | 'danger'; small?: boolean } & ButtonHTMLAttributes

export const Button = ({ kind, small, class: more, children, ...rest }: ButtonProps) => (
  <button type="button" {...rest} class={['button', kind, small && 'small', more].filter(Boolean).join(' ')}>
    {children}
  </button>
)

/** Disables itself while the action runs and shows its error as a toast. */
export function AsyncButton({ action, children, ...rest }: { action: () => Promise<unknown> } & ButtonProps) {
  const [isBusy, setIsBusy] = useState(false)
  const runAction = async () => {
    setIsBusy(true)
    await action().catch((error: Error) => showToast(error.message, { tone: 'bad' }))
    setIsBusy(false)
  }
  return (
    <Button {...rest} disabled={isBusy || Boolean(rest.disabled)} aria-busy={isBusy} onClick={runAction}>
      {children}
    </Button>
  )
}

export type Tone = 'good' | 'warn' | 'bad' | 'info' | 'idle' | 'accent'

export const Status = ({ tone, children }: { tone: Tone; children: ComponentChildren }) => (
  <span class={`status tone-${tone}`}>{children}</span>
)

/** Relative time with the exact time on hover. `isRealTime` ignores the sandbox clock. */
export function Time({ at, isRealTime = false }: { at: string; isRealTime?: boolean }) {
  useTicks()
  const now = isRealTime ? teamNow() - clockOffset.get() : teamNow()
  return (
    <time dateTime={at} title={`${formatDateTime(at)}\n${at}`}>
      {formatRelativeTime(at, now)}
    </time>
  )
}

export function CopyButton({ text, what }: { text: string; what: string }) {
  const [isCopied, setIsCopied] = useState(false)
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
    } catch {
      return showToast(`The browser blocked the clipboard. Select the ${what} and copy it manually.`, { tone: 'bad' })
    }
    setIsCopied(true)
    setTimeout(() => setIsCopied(false), 1500)
  }
  return (
    <button type="button" class="copy" onClick={copy} aria-label={isCopied ? 'Copied' : `Copy ${what}`} title={`Copy ${what}`}>
      <Icon name={isCopied ? 'done' : 'copy'} />
    </button>
  )
}

export const Id = ({ id, what = 'ID' }: { id: string; what?: string }) => (
  <span class="id" title={id}>
    {shortId(id)}
    <CopyButton text={id} what={what} />
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

type EmptyStateProps = { title: string; children?: ComponentChildren; actions?: ComponentChildren }

export const EmptyState = ({ title, children, actions }: EmptyStateProps) => (
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

export const DescriptionList = ({ items }: { items: [name: string, value: ComponentChildren][] }) => (
  <dl class="facts">
    {items
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
  // A scrollable region must be reachable by keyboard.
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

/** Shows the parts of a text between backticks as code. */
export const TextWithCode = ({ text }: { text: string }) => (
  <>{text.split('`').map((part, i) => (i % 2 ? <code key={i}>{part}</code> : part))}</>
)

/** Allows a line break after each dot, and on narrow screens inside a long part. */
export const DottedName = ({ name }: { name: string }) => (
  <span class="breaks">
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
  </span>
)
