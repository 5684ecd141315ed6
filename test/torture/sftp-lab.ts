import { listenSftp, type Tree } from '../../src/labs/hl7/sftp/server.ts'
import { randomInteger } from '../support/seeded.ts'
import { type openBooks, profile, type Sent } from './lab-books.ts'

/** Of a hundred reads and writes, this many break the connection. */
const BROKEN = 3
const REPEATED = 10
const isOneOf = (percent: number) => randomInteger(1, 100) <= percent

/** A lab with an SFTP server. It leaves some results twice, under two names, and all that are not taken yet when it starts. */
export async function openSftpLab(books: ReturnType<typeof openBooks>, port: number, hostKey: string) {
  const tree: Tree = { folders: new Set(['/', '/orders', '/results']), files: new Map() }
  const left = new Map<string, Sent>()

  function onFile(path: string) {
    const file = tree.files.get(path)
    if (!file || path.endsWith('.part')) return
    if (path.startsWith('/orders/')) {
      tree.files.delete(path)
      books.take(file.bytes)
      leaveResults()
    } else if (path.startsWith('/results/done/')) noteTaken(path.replace('/results/done/', ''))
  }

  function leaveResults() {
    for (let report = books.next(); report; report = books.next()) {
      const { control_id, bytes } = report
      const names = [`${control_id}.${profile.files.extension}`, ...(isOneOf(REPEATED) ? [`${control_id}-again.hl7`] : [])]
      for (const name of names) {
        tree.files.set(`/results/${name}`, { bytes: Buffer.from(bytes, 'base64'), modified: Date.now() })
        left.set(name, report)
      }
    }
  }

  /** A file that is moved away counts as an acknowledgment. */
  function noteTaken(name: string) {
    const report = left.get(name)
    if (report) books.acknowledge(report, 'AA', Buffer.from('taken'))
  }

  leaveResults()
  await listenSftp({
    ...{ host: '127.0.0.1', port, tree, hostKey, user: 'assay', password: 'assay' },
    isCut: () => isOneOf(BROKEN),
    onFile,
  })
}
