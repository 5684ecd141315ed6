import { problem } from '../../../platform/problem.ts'

export const MAX_WEBHOOK_HEADERS = 50
const MAX_NAME = 128
const MAX_VALUE = 4096

/** Headers of the connection, the signed body or the signature. */
const reserved =
  /^(host|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|expect|content-(length|type|encoding)|svix-.*|webhook-.*)$/

/** Rejects custom headers that cannot be sent or that Assay sets. Error texts never repeat values, which may be secret. */
export function checkHeaders(headers: Record<string, string>) {
  const names = Object.keys(headers).map((name) => name.toLowerCase())
  if (names.length > MAX_WEBHOOK_HEADERS) throw headerProblem(`headers can have at most ${MAX_WEBHOOK_HEADERS} entries. Remove some.`)
  if (new Set(names).size < names.length)
    throw headerProblem('headers has the same name twice. Header names are case-insensitive, so remove one.')
  for (const [name, value] of Object.entries(headers)) checkHeader(name, value)
}

function checkHeader(name: string, value: string) {
  if (name.length > MAX_NAME || !/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name))
    throw headerProblem(`A name in headers is not valid. Use 1 to ${MAX_NAME} letters, digits or hyphens.`)
  if (reserved.test(name.toLowerCase()))
    throw headerProblem('headers has a name that Assay sets itself. Choose another name, such as X-My-Token.')
  if (value.length > MAX_VALUE || !/^[\t -~]*$/.test(value))
    throw headerProblem(`A value in headers is not valid. Use at most ${MAX_VALUE} visible ASCII characters and no line breaks.`)
}

const headerProblem = (message: string) => problem('WEBHOOK_HEADER_REFUSED', message)
