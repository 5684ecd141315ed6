import type { ComponentChildren } from 'preact'
import type { Query } from '../query.ts'
import { Card } from './basics.tsx'
import { PageHeader } from './page-header.tsx'
import { ErrorNotice, QueryView } from './table.tsx'

type DetailPageProps<T> = { query: Query<T>; title: string; up: [to: string, name: string]; children: (data: T) => ComponentChildren }

/** Keeps the title and the link back when the record cannot be loaded. */
export function DetailPage<T>({ query, title, up, children }: DetailPageProps<T>) {
  if (query.data !== undefined || !query.error)
    return (
      <QueryView query={query} lines={10}>
        {children}
      </QueryView>
    )
  return (
    <>
      <PageHeader up={up} title={title} />
      <Card bare label={title}>
        <ErrorNotice error={query.error} onRetry={query.reload} />
      </Card>
    </>
  )
}
