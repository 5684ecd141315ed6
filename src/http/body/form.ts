import { invalid } from '../../platform/problem.ts'
import { checkText } from '../input.ts'

/** Parses a multipart/form-data body. A name that occurs more than once is a list. */
export async function parseForm(bytes: Buffer, contentType: string) {
  // The body is copied into an ArrayBuffer of its own, which the types of Response require.
  const response = new Response(new Uint8Array(bytes), { headers: { 'content-type': contentType } })
  const form = await response.formData().catch(() => undefined)
  if (!form)
    throw invalid(
      ['body'],
      'The body is not a valid form. Send multipart/form-data with the boundary that its Content-Type names.',
      'form_invalid',
    )
  const values = Map.groupBy(form, ([name]) => name)
  const fields = Object.fromEntries(
    [...values].map(([name, all]) => [name, all.length === 1 ? all[0]?.[1] : all.map(([, value]) => value)]),
  )
  checkText(fields, 'body')
  return fields
}
