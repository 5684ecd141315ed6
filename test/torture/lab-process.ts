import { readFileSync } from 'node:fs'
import { openLab } from './lab.ts'
import { openBooks } from './lab-books.ts'
import { openSftpLab } from './sftp-lab.ts'

/** A lab as a process of its own, so that it can be killed: node lab-process.ts TRANSPORT JOURNAL PORT ASSAY_PORT|HOST_KEY_FILE */
const [transport, journal = '', port, other = ''] = process.argv.slice(2)
const books = openBooks(journal)
if (transport === 'sftp') await openSftpLab(books, Number(port), readFileSync(other, 'utf8'))
else await openLab(books, Number(port), { host: '127.0.0.1', port: Number(other) })
console.log('The lab is listening')
process.stdin.resume().on('end', () => process.exit())
