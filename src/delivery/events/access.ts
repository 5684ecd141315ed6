/** What other features do with the logs of teams. */
export {
  clearDue,
  deleteFromDefault as deleteEventsFromDefault,
  disown,
  findLast,
  findLastBefore,
  listEventsAt,
  listOwned,
  listTeamsWithWork,
  moveEvents,
  releaseTeam,
  searchWork,
} from './store-log.ts'
