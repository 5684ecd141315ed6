import type { Row } from '../../contract/endpoint.ts'
import { lateBytesOf } from '../../platform/shares/late-json.ts'
import { stringifyInSlices } from './stringify-in-slices.ts'

export type ResponseJson = string | Buffer

const LONG_TEXT = 16 * 1024

/** To send a long text, Node would reserve three times its length. */
const bytesIfLong = (text: string) => (text.length > LONG_TEXT ? Buffer.from(text) : text)

/** The JSON of an object in a response. */
export async function responseJson({ long }: Row, body: object): Promise<ResponseJson> {
  if (long) return stringifyInSlices(body)
  return lateBytesOf(body) ?? bytesIfLong(JSON.stringify(body))
}

/** Statements of this turn of the event loop are sent at its end. Long work before that would delay them. */
export const afterSending = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)))
