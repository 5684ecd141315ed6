import { MIMEType } from 'node:util'
import { invalid } from '../../platform/problem.ts'
import { checkText } from '../input.ts'

/** Parses a multipart/form-data body. A name that occurs more than once is a list. */
export async function parseForm(bytes: Buffer, contentType: string) {
  checkParts(bytes, contentType)
  // The body is copied into an ArrayBuffer of its own, which the types of Response require.
  const response = new Response(new Uint8Array(bytes), { headers: { 'content-type': contentType } })
  const form = await response.formData().catch(() => undefined)
  if (!form) throw notAForm()
  const values = Map.groupBy(form, ([name]) => name)
  const fields = Object.fromEntries(
    [...values].map(([name, all]) => [name, all.length === 1 ? all[0]?.[1] : all.map(([, value]) => value)]),
  )
  checkText(fields, 'body')
  return fields
}

export const MAX_FORM_PARTS = 100
const MAX_HEADER_BYTES = 8 * 1024

/** Parsing blocks all other requests for as long as it takes, and each part and each of its headers takes time. */
function checkParts(bytes: Buffer, contentType: string) {
  const delimiter = `--${boundaryOf(contentType)}`
  const first = bytes.indexOf(delimiter)
  if (first < 0 || first > MAX_HEADER_BYTES) throw notAForm()
  let parts = 0
  for (let at = first; at >= 0; at = bytes.indexOf(delimiter, at)) {
    at += delimiter.length
    if (bytes.toString('latin1', at, at + 2) === '--') return
    if (++parts > MAX_FORM_PARTS) throw invalid(['body'], `The form has more than ${MAX_FORM_PARTS} parts. Send fewer.`, 'form_invalid')
    if (!bytes.subarray(at, at + MAX_HEADER_BYTES).includes('\r\n\r\n')) throw notAForm()
  }
}

function boundaryOf(contentType: string) {
  try {
    const boundary = new MIMEType(contentType).params.get('boundary')
    if (boundary) return boundary
  } catch {
    // Refused below.
  }
  throw notAForm()
}

const notAForm = () =>
  invalid(['body'], 'The body is not a valid form. Send multipart/form-data with the boundary that its Content-Type names.', 'form_invalid')
