import type { Row } from '../src/contract/endpoint.ts'
import { endpoints } from '../src/contract/index.ts'

/** The table of deprecated operations in docs/upgrading.md, oldest first. */
export function deprecationsTable() {
  const deprecated = Object.values<Row>(endpoints).filter((row) => row.deprecated)
  const rows = deprecated
    .sort((a, b) => `${a.deprecated}`.localeCompare(`${b.deprecated}`))
    .map(({ method, path, description, deprecated }) => `| \`${method.toUpperCase()} ${path}\` | ${deprecated} | ${description} |`)
  return ['', '| Operation | Deprecated since | Replacement |', '|---|---|---|', ...rows, '', ''].join('\n')
}
