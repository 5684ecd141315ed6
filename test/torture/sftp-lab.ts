import ssh2 from 'ssh2'
import { listenSftp, type Tree } from '../../src/labs/hl7/sftp/server.ts'
import { randomInteger } from '../support/seeded.ts'
import { openBooks, profile, type Sent } from './lab-books.ts'

/** Of a hundred reads and writes, this many break the connection. */
const BROKEN = 3
const REPEATED = 10
const isOneOf = (percent: number) => randomInteger(1, 100) <= percent

/** A lab with an SFTP server that loses nothing. It leaves some results twice, under two names. */
export async function openSftpLab(port: number) {
  const books = openBooks()
  const tree: Tree = { folders: new Set(['/', '/orders', '/results']), files: new Map() }
  const left = new Map<string, { report: Sent; at: number }>()
  const hostKey = ssh2.utils.generateKeyPairSync('ed25519').private
  const listen = () =>
    listenSftp({
      ...{ host: '127.0.0.1', port, tree, hostKey, user: 'assay', password: 'assay' },
      isCut: () => isOneOf(BROKEN),
      onFile,
    })
  let listening = await listen()
  const { fingerprint } = listening

  function onFile(path: string) {
    const file = tree.files.get(path)
    if (!file || path.endsWith('.part')) return
    if (path.startsWith('/orders/')) {
      tree.files.delete(path)
      books.take(file.bytes)
      for (const order of books.queue.splice(0)) leave(books.report(order))
    } else if (path.startsWith('/results/done/')) noteTaken(path.replace('/results/done/', ''))
  }

  function leave(report: Sent) {
    const names = [`${report.control_id}.${profile.files.extension}`, ...(isOneOf(REPEATED) ? [`${report.control_id}-again.hl7`] : [])]
    for (const name of names) {
      tree.files.set(`/results/${name}`, { bytes: report.bytes, modified: Date.now() })
      left.set(name, { report, at: performance.now() })
    }
  }

  /** A file that is moved away counts as an acknowledgment. */
  function noteTaken(name: string) {
    const { report, at } = left.get(name) ?? {}
    if (!report || at === undefined) return
    report.codes.push('AA')
    report.acknowledgments.add('taken')
    report.ms ||= performance.now() - at
  }

  return {
    ...books,
    isIdle: () => books.isIdle() && ![...tree.files.keys()].some((path) => path.startsWith('/results/') && !path.includes('/done/')),
    sftp: { host: '127.0.0.1', port, user: 'assay', password: 'assay', host_keys: [fingerprint], orders: '/orders', results: '/results' },
    async restart() {
      await listening[Symbol.asyncDispose]()
      listening = await listen()
    },
    close: () => listening[Symbol.asyncDispose](),
  }
}
