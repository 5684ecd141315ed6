import { splitFile } from '../codec/rules-batch.ts'
import { readAcknowledgment } from '../messages/rules-acknowledgment.ts'
import { decodeOrUndefined } from '../messages/rules-bytes.ts'
import { writeFile } from '../messages/rules-files.ts'
import { listenSftp, type Tree } from '../sftp/server.ts'
import { type Desk, LATE_MS, openDesk } from './desk.ts'

/** Where the stand-in takes orders and leaves results. */
export const ORDERS = '/orders'
export const RESULTS = '/results'
export const USER = 'assay'

type StandIn = Desk & { host: string; port: number; password: string; hostKey?: string | undefined; authorizedKeys?: string[] }

/** A lab on SFTP: it takes the order files that are complete, and leaves files with results and acknowledgments. */
export async function startSftpStandIn({ host, port, password, hostKey, authorizedKeys = [], ...options }: StandIn) {
  const { profile, misbehavior, onError = () => {} } = options
  const tree: Tree = { folders: new Set(['/', ORDERS, RESULTS]), files: new Map() }
  const broken = new Set<string>()
  let count = 0

  /** Leaves a file with these messages. */
  function leave(messages: Buffer[]) {
    const path = `${RESULTS}/${String(++count).padStart(6, '0')}.${profile.files.extension}`
    const bytes = fileOf(messages)
    const put = (part: Buffer) => tree.files.set(path, { bytes: part, modified: Date.now() })
    if (misbehavior !== 'half_file') return put(bytes)
    put(bytes.subarray(0, bytes.length / 2))
    desk.later(LATE_MS, () => put(bytes))
  }

  function fileOf(messages: Buffer[]) {
    if (misbehavior !== 'wrong_count') return writeFile(profile, messages)
    const bytes = writeFile({ ...profile, files: { ...profile.files, envelope: 'batch' } }, messages)
    return Buffer.from(bytes.toString('latin1').replace(/BTS\|\d+/, `BTS|${messages.length + 1}`), 'latin1')
  }

  const desk = openDesk(options, async (messages) => {
    leave(messages.map(({ bytes }) => bytes))
    return messages.map(() => 'left')
  })

  /** The lab takes order files away. */
  function take(path: string) {
    const file = tree.files.get(path)
    if (!file || !path.startsWith(`${ORDERS}/`) || path.endsWith('.part')) return
    tree.files.delete(path)
    const answers = splitFile(file.bytes).flatMap((bytes) => (isAcknowledgment(bytes) ? [] : (desk.answer(bytes) ?? [])))
    if (!profile.files.lab_acknowledges || !answers.length) return
    if (misbehavior === 'late_answer') desk.later(LATE_MS, () => leave(answers))
    else leave(answers)
  }

  /** Hears of an acknowledgment, which needs no answer. */
  function isAcknowledgment(bytes: Buffer) {
    const message = decodeOrUndefined(profile, bytes)
    const acknowledgment = message && readAcknowledgment(message)
    if (acknowledgment) options.onMessage({ control_id: acknowledgment.control_id, actions: ['ACK'], code: acknowledgment.code })
    return acknowledgment !== undefined
  }

  function isCut(what: 'write' | 'read', path: string) {
    if (what === 'write') return misbehavior === 'disconnect'
    if (misbehavior !== 'broken_pipe' || broken.has(path)) return false
    broken.add(path)
    return true
  }

  const listening = await listenSftp({
    ...{ host, port, tree, user: USER, password, hostKey, authorizedKeys, isCut },
    onFile: (path) => {
      try {
        take(path)
      } catch (error) {
        onError(error)
      }
    },
  })
  return {
    port: listening.port,
    fingerprint: listening.fingerprint,
    tree,
    async [Symbol.asyncDispose]() {
      desk.close()
      await listening[Symbol.asyncDispose]()
    },
  }
}
