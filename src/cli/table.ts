import { auditAcknowledge, auditVerify } from './audit.ts'
import { backupCommand, checkBackupCommand, restoreCommand } from './backup.ts'
import { bootstrapCommand } from './bootstrap.ts'
import { capacityCommand } from './capacity.ts'
import { loadCatalogFile, showCatalog } from './catalog.ts'
import { cloudSimDexcom, cloudSimGoogleHealth, cloudSimOura, cloudSimWhoop, cloudSimWithings } from './cloud-sim.ts'
import type { Command } from './command.ts'
import { completions } from './completion.ts'
import { conformanceCommand } from './conformance.ts'
import { acknowledgeCritical, showCritical } from './critical.ts'
import { disclosuresCommand } from './disclosures.ts'
import { doctorCommand } from './doctor.ts'
import { erasureKeys, erasureVerify } from './erasure.ts'
import { listEvents, tailEvents } from './events.ts'
import { evidenceCommand } from './evidence.ts'
import { exportCommand } from './export.ts'
import { importCommand } from './import.ts'
import { createKey, listKeys, revokeKey, rotateKey } from './keys.ts'
import { createAccount, listAccounts, setAccountStatus } from './lab-accounts.ts'
import { createLabKeyCommand, listLabKeysCommand, revokeLabKeyCommand } from './lab-keys.ts'
import {
  dismissFailedMessageCommand,
  listFailedMessagesCommand,
  listLabMessagesCommand,
  processFailedMessageCommand,
  resendLabMessageCommand,
} from './lab-messages.ts'
import { checkProfileCommand } from './lab-profiles.ts'
import { labSimCommand } from './lab-sim.ts'
import { approveTest, pendingTests } from './lab-tests.ts'
import { listenCommand } from './listen.ts'
import { migrateCommand } from './migrate.ts'
import { cancelOrder, listOrders, placeOrders, showOrder, simulateOrder, watchOrder } from './orders.ts'
import { limitTeamCommand, moveTeamCommand, orgCommand, teamCommand } from './org.ts'
import { invitePerson, listPeople, removePerson } from './people.ts'
import { listWebhooks, replayCommand } from './replay.ts'
import { rotateDataCommand, rotateEncryptionCommand, rotateRootCommand } from './rotate.ts'
import { advanceClock, resetTeam, showClock } from './sandbox.ts'
import { loadSchedule, showSchedule } from './schedule.ts'
import { seedCommand } from './seed.ts'
import { seedWearables } from './seed-wearables.ts'
import { serveCommand } from './serve.ts'
import { setUpSource } from './sources.ts'
import { acceptUnmatched, assignUnmatched, listUnmatched } from './unmatched-results.ts'
import { createUser, deleteUser, listUsers, showUser, undeleteUser } from './users.ts'

/** Every command, in the order of the help. */
export const sections: Record<string, Command[]> = {
  'Run the service': [
    serveCommand,
    migrateCommand,
    bootstrapCommand,
    backupCommand,
    checkBackupCommand,
    restoreCommand,
    auditVerify,
    auditAcknowledge,
    erasureVerify,
    erasureKeys,
    doctorCommand,
    capacityCommand,
    evidenceCommand,
    setUpSource,
  ],
  'Organizations, keys and people': [
    orgCommand,
    teamCommand,
    limitTeamCommand,
    moveTeamCommand,
    listKeys,
    createKey,
    rotateKey,
    revokeKey,
    rotateEncryptionCommand,
    rotateRootCommand,
    rotateDataCommand,
    invitePerson,
    listPeople,
    removePerson,
  ],
  'Labs and catalog': [
    showCatalog,
    loadCatalogFile,
    listLabKeysCommand,
    createLabKeyCommand,
    revokeLabKeyCommand,
    listAccounts,
    createAccount,
    setAccountStatus,
    pendingTests,
    approveTest,
    loadSchedule,
    showSchedule,
    checkProfileCommand,
    listLabMessagesCommand,
    resendLabMessageCommand,
    listFailedMessagesCommand,
    processFailedMessageCommand,
    dismissFailedMessageCommand,
    labSimCommand,
    listUnmatched,
    assignUnmatched,
    acceptUnmatched,
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
    showCritical,
    acknowledgeCritical,
    simulateOrder,
    cancelOrder,
    listEvents,
    tailEvents,
    listenCommand,
    listWebhooks,
    disclosuresCommand,
    replayCommand,
  ],
  'Seed, export and sandbox': [
    seedCommand,
    seedWearables,
    exportCommand,
    importCommand,
    showClock,
    advanceClock,
    resetTeam,
    cloudSimOura,
    cloudSimWithings,
    cloudSimWhoop,
    cloudSimGoogleHealth,
    cloudSimDexcom,
  ],
  Conformance: [conformanceCommand],
  'Shell completion': completions(() => commands),
}

export const commands = Object.values(sections).flat()

export const exitCodes: Record<number, string> = {
  0: 'Success. Every check passed.',
  1: 'The command failed, or a check found a problem. Standard error has the reason.',
  2: 'Wrong usage: unknown command, unknown option or invalid value.',
  130: 'Interrupted with Ctrl-C. Run the same command to resume an import or a seed.',
}
