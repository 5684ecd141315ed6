import { enableCompileCache } from 'node:module'
import { join } from 'node:path'

// What was compiled is kept beside the packages, so that the next start takes half the time. Where nothing can be written, nothing is kept.
enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/compiled'))
