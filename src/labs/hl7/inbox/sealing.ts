import { createHmac } from 'node:crypto'
import type { App } from '../../../platform/app.ts'
import { inPieces, openLarge, sealLarge } from '../../../platform/sealing/large.ts'
import { firstRoot } from '../../../platform/sealing/roots.ts'
import { derive, open, seal } from '../../../platform/sealing/seal.ts'
import { deploymentSealingKey } from '../../../platform/sealing/vault.ts'
import { INBOX_KEY } from '../tables.ts'

type Vaulted = Pick<App, 'vault'>
type Key = { lab_id: number; control_id: string }

const bodyData = ({ lab_id, control_id }: Key) => `lab_inbox.sealed.${lab_id}.${control_id}`
const answerData = ({ lab_id, control_id }: Key) => `lab_inbox.answer_sealed.${lab_id}.${control_id}`

export const encryptBody = (app: Vaulted, key: Key, bytes: Buffer) => sealLarge(deploymentSealingKey(app, INBOX_KEY), bodyData(key), bytes)

export const decryptBody = (app: Vaulted, key: Key, sealed: Buffer) =>
  openLarge(deploymentSealingKey(app, INBOX_KEY, sealed), bodyData(key), sealed)

export const encryptAnswers = (app: Vaulted, key: Key, answers: Buffer[]) =>
  seal(
    deploymentSealingKey(app, INBOX_KEY),
    answerData(key),
    answers.map((answer) => answer.toString('base64')),
  )

export const decryptAnswers = (app: Vaulted, key: Key, sealed: Buffer) =>
  open<string[]>(deploymentSealingKey(app, INBOX_KEY, sealed), answerData(key), sealed).map((text) => Buffer.from(text, 'base64'))

/** A keyed hash of a message without its header, whose time can differ when a lab repeats a message. It survives a new root. */
export async function digestOf({ vault }: Vaulted, bytes: Buffer): Promise<Buffer> {
  const digest = createHmac('sha256', derive(firstRoot(vault), 'digest of lab messages'))
  await inPieces(bytes.subarray(endOfLine(bytes)), (piece) => digest.update(piece))
  return digest.digest()
}

/** Where the first line ends. A message has up to 20 MB, and may be one line. */
function endOfLine(bytes: Buffer) {
  const ends = [bytes.indexOf(0x0d), bytes.indexOf(0x0a)].filter((end) => end >= 0)
  return ends.length ? Math.min(...ends) : bytes.length
}
