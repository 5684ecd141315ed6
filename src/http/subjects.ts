import { isId } from '../contract/common.ts'
import type { Row } from '../contract/endpoint.ts'
import type { Caller } from '../platform/callers.ts'

const MAX_LISTED = 50

/** The audit row has its own columns for these path parameters. */
const auditColumns = new Set(['org_id', 'env', 'region'])

type Request = {
  params: unknown
  caller?: Caller | undefined
  input?: { query?: unknown; body?: unknown } | undefined
}

/** Finds the IDs that a request is about. IDs in the result are missing until the action has run. */
export type Subjects = (request: Request, result?: unknown) => Subject[]
type Subject = { name: string; ids: string[]; isList: boolean }

/** Finds the subjects that a row declares, then the IDs in its path. It runs once per endpoint, not per request. */
export function subjectsOf(row: Row): Subjects {
  const declared = Object.entries(row.subjects).flatMap(([name, paths]) => [paths].flat().map((path) => [name, path] as const))
  const inPath = Object.keys(row.params?.shape ?? {}).filter((name) => !auditColumns.has(name))
  const finders = [...declared, ...inPath.map((name) => [name, `path.${name}`] as const)].map(([name, path]) => finderOf(name, path))
  return (request, result) => finders.map((find) => find(request, result))
}

function finderOf(name: string, path: string) {
  const [from, ...steps] = path.replaceAll('[]', '.[]').split('.')
  const isList = steps.includes('[]')
  return ({ params, caller, input }: Request, result: unknown): Subject => {
    const parts: Record<string, unknown> = { path: params, query: input?.query, body: input?.body, result, caller }
    return {
      name,
      isList,
      ids: steps
        .reduce(stepInto, [parts[from as string]])
        .flat()
        .filter(isId)
        .map((id) => id.toLowerCase()),
    }
  }
}

const stepInto = (values: unknown[], step: string) =>
  step === '[]' ? values.filter(Array.isArray).flat() : values.map((value) => (value as Record<string, unknown> | null | undefined)?.[step])

export const firstId = (subjects: Subject[], name: string) =>
  subjects.find((subject) => subject.name === name && subject.ids.length)?.ids[0]

/** Formats subjects for the audit log, which must hold IDs only. A long list is truncated and followed by its count. */
export function describeSubjects(subjects: Subject[]): string | undefined {
  const described = subjects.flatMap(({ name, ids, isList }) => {
    const each = [...new Set(ids)].map((id) => `${name}:${id}`)
    if (!isList || each.length <= MAX_LISTED) return each
    return [...each.slice(0, MAX_LISTED), `${name.replace(/_id$/, 's')}:${each.length}`]
  })
  return [...new Set(described)].join(' ') || undefined
}
