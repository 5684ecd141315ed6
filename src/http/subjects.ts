import type { Row } from '../contract/endpoint.ts'
import type { Caller } from '../platform/callers.ts'

const NAMED_AT_MOST = 50

/** Paths name the organization and the deployment too; the audit row has columns for these. */
const inColumns = new Set(['org_id', 'env', 'region'])

type Request = {
  params: unknown
  caller?: Caller | undefined
  input?: { query?: unknown; body?: unknown } | undefined
}

/** Finds the ids that a request is about. Before the action ran there is no result, and its ids are not found. */
export type Subjects = (request: Request, result?: unknown) => Found[]
type Found = { name: string; ids: string[]; isList: boolean }

/** The subjects that a row declares, then the ids in its path. Built once for each endpoint. */
export function subjectsOf(row: Row): Subjects {
  const declared = Object.entries(row.subjects).flatMap(([name, places]) => [places].flat().map((place) => [name, place] as const))
  const inPath = Object.keys(row.params?.shape ?? {}).filter((name) => !inColumns.has(name))
  const finders = [...declared, ...inPath.map((name) => [name, `path.${name}`] as const)].map(([name, place]) => finderOf(name, place))
  return (request, result) => finders.map((find) => find(request, result))
}

function finderOf(name: string, place: string) {
  const [from, ...steps] = place.replaceAll('[]', '.[]').split('.')
  const isList = steps.includes('[]')
  return ({ params, caller, input }: Request, result: unknown): Found => {
    const parts: Record<string, unknown> = { path: params, query: input?.query, body: input?.body, result, caller }
    return {
      name,
      isList,
      ids: steps
        .reduce(stepInto, [parts[from as string]])
        .flat()
        .filter(isId)
        .map(lowerCase),
    }
  }
}

const stepInto = (values: unknown[], step: string) =>
  step === '[]' ? values.filter(Array.isArray).flat() : values.map((value) => (value as Record<string, unknown> | null | undefined)?.[step])

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const isId = (value: unknown): value is string => typeof value === 'string' && uuid.test(value)
const lowerCase = (id: string) => id.toLowerCase()

/** The first id of a name. */
export const firstOf = (found: Found[], name: string) => found.find((one) => one.name === name && one.ids.length)?.ids[0]

/** As the audit log holds them: never a value that a patient gave. Of a long list, the first ones and how many there are. */
export function describeSubjects(found: Found[]): string | undefined {
  const subjects = found.flatMap(({ name, ids, isList }) => {
    const each = [...new Set(ids)].map((id) => `${name}:${id}`)
    if (!isList || each.length <= NAMED_AT_MOST) return each
    return [...each.slice(0, NAMED_AT_MOST), `${name.replace(/_id$/, 's')}:${each.length}`]
  })
  return [...new Set(subjects)].join(' ') || undefined
}
