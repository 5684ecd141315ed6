import { query } from './query.ts'

type Commented = { name: string; comment: string }

/** Where a cluster stores the tables that have no team, and which functions it runs where the team is, by their comments. */
export async function placementsIn(url: string) {
  const tables = await query<Commented>(
    url,
    `select relname as name, obj_description(oid, 'pg_class') as comment from pg_class
     where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and obj_description(oid, 'pg_class') is not null order by 1`,
  )
  const functions = await query<Commented>(
    url,
    `select proname as name, obj_description(oid, 'pg_proc') as comment from pg_proc
     where pronamespace = 'public'::regnamespace and obj_description(oid, 'pg_proc') is not null order by 1`,
  )
  const withComment = (rows: Commented[], comment: string) => rows.filter((row) => row.comment === comment).map(({ name }) => name)
  const spread = tables.filter(({ comment }) => comment.startsWith('spread by '))
  return {
    reference: withComment(tables, 'on every server'),
    local: withComment(tables, 'on the coordinator'),
    spread: Object.fromEntries(spread.map(({ name, comment }) => [name, comment.slice('spread by '.length)])),
    delegated: withComment(functions, 'on the server of its first argument'),
    comments: [...tables, ...functions].map(({ comment }) => comment),
  }
}
