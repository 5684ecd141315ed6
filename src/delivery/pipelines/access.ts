/** What other features do with the positions of destinations. */
export { listLags, listTeamsBehind, moveDestinations } from './store-destinations.ts'
