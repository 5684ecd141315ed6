import { store, useStore } from '../observable.ts'

type Toast = { id: number; text: string; tone?: 'bad' | undefined; action?: { name: string; run: () => void } | undefined }

const toasts = store<Toast[]>([])
let ids = 0
const FOR = 6_000
const FOR_ACTION = 12_000

/** A short line at the edge of the page, spoken too. */
export function say(text: string, { tone, action }: Omit<Toast, 'id' | 'text'> = {}) {
  const id = ++ids
  toasts.set([...toasts.get(), { id, text, tone, action }])
  setTimeout(() => drop(id), action || tone ? FOR_ACTION : FOR)
}

const drop = (id: number) => toasts.set(toasts.get().filter((one) => one.id !== id))

export function Toasts() {
  const all = useStore(toasts)
  return (
    <div class="toasts" role="status" aria-live="polite">
      {all.map(({ id, text, tone, action }) => (
        <div key={id} class={tone ? `toast ${tone}` : 'toast'}>
          <span class="grow">{text}</span>
          {action && (
            <button
              type="button"
              class="toast-button"
              onClick={() => {
                drop(id)
                action.run()
              }}
            >
              {action.name}
            </button>
          )}
          <button type="button" class="toast-button" aria-label="Dismiss" onClick={() => drop(id)}>
            ✕
          </button>
        </div>
      ))}
    </div>
  )
}
