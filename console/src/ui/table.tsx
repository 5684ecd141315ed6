import type { ComponentChildren } from 'preact'
import type { Failure } from '../api.ts'
import type { Query } from '../query.ts'
import { Link, setSearch } from '../router.tsx'
import { Button, Empty, Notice, Skeleton } from './basics.tsx'
import { Icon } from './icons.tsx'

export type Column<T> = {
  name: string
  /** Left out on narrow screens. */
  wide?: boolean
  right?: boolean
  cell: (one: T) => ComponentChildren
}

type TableProps<T> = {
  rows: T[]
  columns: Column<T>[]
  keyOf: (one: T) => string
  label: string
  /** Where a row leads; its first cell is the link. */
  to?: (one: T) => string
}

export const Table = <T,>({ rows, columns, keyOf, label, to }: TableProps<T>) => (
  // What scrolls must be reachable by keyboard; rows that lead somewhere are.
  <div class="scroll" {...(to ? {} : { tabIndex: 0, role: 'region' as const, 'aria-label': label })}>
    <table>
      <caption class="sr">{label}</caption>
      <thead>
        <tr>
          {columns.map(({ name, wide, right }) => (
            <th key={name} scope="col" class={classes(wide, right)}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((one) => (
          <tr key={keyOf(one)} class={to ? 'goes' : ''}>
            {columns.map(({ name, cell, wide, right }, i) => (
              <td key={name} class={classes(wide, right)}>
                {to && i === 0 ? (
                  <Link class="row-link" to={to(one)}>
                    {cell(one)}
                  </Link>
                ) : (
                  cell(one)
                )}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)

const classes = (wide = false, right = false) => [wide && 'wide', right && 'right'].filter(Boolean).join(' ')

type LoadedProps<T> = {
  of: Query<T>
  empty?: ComponentChildren
  isEmpty?: (data: T) => boolean
  lines?: number
  children: (data: T) => ComponentChildren
}

/** The four faces of what is asked for: not there yet, failed, empty, there. */
export function Loaded<T>({ of: { data, error, loading, reload }, empty, isEmpty, lines, children }: LoadedProps<T>) {
  if (data === undefined && error) return <Failed error={error} again={reload} />
  if (data === undefined)
    return (
      <div class="body">
        <Skeleton lines={lines ?? 4} />
      </div>
    )
  if (empty && isEmpty?.(data)) return <>{empty}</>
  return (
    <div class={loading ? 'is-stale' : ''}>
      {error && <Failed error={error} again={reload} />}
      {children(data)}
    </div>
  )
}

export const Failed = ({ error, again }: { error: Failure; again?: () => unknown }) => (
  <div class="body">
    <Notice tone="bad">
      {error.message}{' '}
      {again && (
        <Button small onClick={() => void again()}>
          Try again
        </Button>
      )}
    </Notice>
  </div>
)

type PagerProps = { text: string; back?: (() => void) | undefined; on?: (() => void) | undefined }

export const Pager = ({ text, back, on }: PagerProps) => (
  <nav class="pager" aria-label="Pages">
    <span aria-live="polite">{text}</span>
    <span class="row">
      <Button small disabled={!back} onClick={back} aria-label="Page before">
        <Icon name="left" />
      </Button>
      <Button small disabled={!on} onClick={on} aria-label="Next page">
        <Icon name="right" />
      </Button>
    </span>
  </nav>
)

/** Rows went meanwhile, or the address was made up. */
export const PastEnd = () => (
  <Empty title="The list ends before this page" actions={<Button onClick={() => setSearch({ page: null })}>Go to the first page</Button>} />
)

type Older = { pages: (string | null)[]; next: string | null; turn: (pages: (string | null)[]) => void }

/** Pages of a log by cursor, the newest first; the cursors of those before are kept to go back. */
export const OlderPager = ({ pages, next, turn }: Older) => (
  <nav class="pager" aria-label="Pages">
    <Button small disabled={pages.length < 2} onClick={() => turn(pages.slice(0, -1))}>
      Newer
    </Button>
    <Button small disabled={!next} onClick={() => turn([...pages, next])}>
      Older
    </Button>
  </nav>
)
