import type { ComponentChildren } from 'preact'
import type { ApiError } from '../api.ts'
import type { Query } from '../query.ts'
import { Link, setSearchParams } from '../router.tsx'
import { Button, EmptyState, Notice, Skeleton } from './basics.tsx'
import { Icon } from './icons.tsx'

export type Column<T> = {
  name: string
  /** Hidden on narrow screens. */
  wide?: boolean
  right?: boolean
  cell: (row: T) => ComponentChildren
}

type TableProps<T> = {
  rows: T[]
  columns: Column<T>[]
  keyOf: (row: T) => string
  label: string
  /** Makes the first cell of each row a link. */
  to?: (row: T) => string
}

export const Table = <T,>({ rows, columns, keyOf, label, to }: TableProps<T>) => (
  // A scrollable region must be reachable by keyboard; links in the rows already are.
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
        {rows.map((row) => (
          <tr key={keyOf(row)} class={to ? 'is-link' : ''}>
            {columns.map(({ name, cell, wide, right }, i) => (
              <td key={name} class={classes(wide, right)}>
                {to && i === 0 ? (
                  <Link class="row-link" to={to(row)}>
                    {cell(row)}
                  </Link>
                ) : (
                  cell(row)
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

type QueryViewProps<T> = {
  query: Query<T>
  empty?: ComponentChildren
  isEmpty?: (data: T) => boolean
  lines?: number
  children: (data: T) => ComponentChildren
}

/** Shows a query as a skeleton, an error, an empty state or its data. */
export function QueryView<T>({ query: { data, error, loading, reload }, empty, isEmpty, lines, children }: QueryViewProps<T>) {
  if (data === undefined && error) return <ErrorNotice error={error} onRetry={reload} />
  if (data === undefined)
    return (
      <div class="body">
        <Skeleton lines={lines ?? 4} />
      </div>
    )
  if (empty && isEmpty?.(data)) return <>{empty}</>
  return (
    <div class={loading ? 'is-stale' : ''}>
      {error && <ErrorNotice error={error} onRetry={reload} />}
      {children(data)}
    </div>
  )
}

export const ErrorNotice = ({ error, onRetry }: { error: ApiError; onRetry?: () => unknown }) => (
  <div class="body">
    <Notice tone="bad">
      {error.message}{' '}
      {onRetry && (
        <Button small onClick={() => void onRetry()}>
          Try again
        </Button>
      )}
    </Notice>
  </div>
)

type PagerProps = { text: string; onPrevious?: (() => void) | undefined; onNext?: (() => void) | undefined }

export const Pager = ({ text, onPrevious, onNext }: PagerProps) => (
  <nav class="pager" aria-label="Pages">
    <span aria-live="polite">{text}</span>
    <span class="row">
      <Button small disabled={!onPrevious} onClick={onPrevious} aria-label="Previous page">
        <Icon name="left" />
      </Button>
      <Button small disabled={!onNext} onClick={onNext} aria-label="Next page">
        <Icon name="right" />
      </Button>
    </span>
  </nav>
)

export const PastLastPage = () => (
  <EmptyState
    title="This page does not exist"
    actions={<Button onClick={() => setSearchParams({ page: null })}>Go to first page</Button>}
  />
)

type CursorPagerProps = {
  pages: (string | null)[]
  next: string | null
  onChange: (pages: (string | null)[]) => void
}

/** `pages` keeps the cursors of earlier pages, because a cursor only points forward. */
export const CursorPager = ({ pages, next, onChange }: CursorPagerProps) => (
  <nav class="pager" aria-label="Pages">
    <Button small disabled={pages.length < 2} onClick={() => onChange(pages.slice(0, -1))}>
      Previous
    </Button>
    <Button small disabled={!next} onClick={() => onChange([...pages, next])}>
      Next
    </Button>
  </nav>
)
