import type { Row } from '../../contract/endpoint.ts'
import { stringifyInSlices } from './stringify-in-slices.ts'

const LONG_TEXT = 16 * 1024

/** To send a long text, Node would reserve three times its length. */
const bytesIfLong = (text: string) => (text.length > LONG_TEXT ? Buffer.from(text) : text)

export const responseJson = async ({ largeResponse }: Row, body: unknown): Promise<string | Buffer> =>
  largeResponse ? stringifyInSlices(body) : bytesIfLong(JSON.stringify(body))
