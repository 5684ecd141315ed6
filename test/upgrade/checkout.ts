import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../support/process.ts'

const git = (...args: string[]) => spawnSync('git', ['-C', root, ...args]).status === 0

/** Whether the history has a commit. An archive and a shallow clone do not. */
export const hasCommit = (commit: string) => git('cat-file', '-e', `${commit}^{commit}`)

/** Writes the files of a commit to a new folder, with the packages of this version. The repository stays as it is. */
export function checkOut(commit: string, folder: string) {
  mkdirSync(folder)
  const archive = join(folder, 'commit.tar')
  execFileSync('git', ['-C', root, 'archive', '--format=tar', `--output=${archive}`, commit])
  execFileSync('tar', ['-xf', archive, '-C', folder])
  rmSync(archive)
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  return folder
}
