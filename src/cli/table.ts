import { auditVerify } from './audit.ts'
import { backupCommand, checkBackupCommand, restoreCommand } from './backup.ts'
import { bootstrapCommand } from './bootstrap.ts'
import { loadFile, showCatalogue } from './catalog.ts'
import type { Command } from './command.ts'
import { completions } from './completion.ts'
import { conformanceCommand } from './conformance.ts'
import { doctorCommand } from './doctor.ts'
import { listEvents, tailEvents } from './events.ts'
import { exportCommand } from './export.ts'
import { importCommand } from './import.ts'
import { createKey, listKeys, revokeKey } from './keys.ts'
import { createAccount, listAccounts, setAccountStatus } from './lab-accounts.ts'
import { createKeyOfLab, listKeysOfLabs, revokeKeyOfLab } from './lab-keys.ts'
import { approveTest, pendingTests } from './lab-tests.ts'
import { listenCommand } from './listen.ts'
import { migrateCommand } from './migrate.ts'
import { cancelOrder, listOrders, placeOrders, showOrder, simulateOrder, watchOrder } from './orders.ts'
import { orgCommand, teamCommand } from './org.ts'
import { invitePerson, listPeople, removePerson } from './people.ts'
import { listWebhooks, replayCommand } from './replay.ts'
import { advanceClock, resetTeam, showClock } from './sandbox.ts'
import { seedCommand } from './seed.ts'
import { seedWearables } from './seed-wearables.ts'
import { serveCommand } from './serve.ts'
import { createUser, deleteUser, listUsers, showUser, undeleteUser } from './users.ts'

/** The whole command line, in the order in which help shows it. */
export const sections: Record<string, Command[]> = {
  'Run the service': [
    serveCommand,
    migrateCommand,
    bootstrapCommand,
    backupCommand,
    checkBackupCommand,
    restoreCommand,
    auditVerify,
    doctorCommand,
  ],
  'Organisation and keys': [orgCommand, teamCommand, listKeys, createKey, revokeKey, invitePerson, listPeople, removePerson],
  'Labs and their catalogue': [
    showCatalogue,
    loadFile,
    listKeysOfLabs,
    createKeyOfLab,
    revokeKeyOfLab,
    listAccounts,
    createAccount,
    setAccountStatus,
    pendingTests,
    approveTest,
  ],
  'Use the API': [
    listUsers,
    createUser,
    showUser,
    deleteUser,
    undeleteUser,
    listOrders,
    placeOrders,
    showOrder,
    watchOrder,
    simulateOrder,
    cancelOrder,
    listEvents,
    tailEvents,
    listenCommand,
    listWebhooks,
    replayCommand,
  ],
  'Fill and move teams': [seedCommand, seedWearables, exportCommand, importCommand, showClock, advanceClock, resetTeam],
  'Check a server': [conformanceCommand],
  'Your shell': completions(() => commands),
}

export const commands = Object.values(sections).flat()

export const exitCodes: Record<number, string> = {
  0: 'Done, and what was checked is in order.',
  1: 'Refused or failed, or a check found something wrong; standard error says what.',
  2: 'Wrong usage: no such command or option, or a value that cannot be.',
  130: 'Interrupted by Ctrl-C. What can be resumed is resumed by the same command.',
}
