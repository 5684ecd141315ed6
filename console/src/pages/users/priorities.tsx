import { api } from '../../api.ts'
import { humanize } from '../../format.ts'
import { refresh, useQuery } from '../../query.ts'
import { can } from '../../session.ts'
import { AsyncButton, Card, EmptyState } from '../../ui/basics.tsx'
import { QueryView } from '../../ui/table.tsx'
import { showToast } from '../../ui/toasts.tsx'

type Priority = Awaited<ReturnType<typeof api.getSourcePriorities>>[number]
type DataType = 'workouts' | 'activity' | 'sleep' | 'body' | 'timeseries'

const dataTypes: DataType[] = ['activity', 'sleep', 'workouts', 'body', 'timeseries']

/** The order of the user's sources by kind of data. It belongs to the team. */
export function Priorities({ slugs }: { slugs: string[] }) {
  const priorities = useQuery('source-priorities', () => api.getSourcePriorities())
  return (
    <Card bare title="Source priorities">
      {slugs.length ? (
        <QueryView query={priorities}>
          {(all) => (
            <div class="body stack">
              <p class="small muted">
                Raw summaries have this order as their priority, so that clients can choose between sources. It applies to all users of the
                team.
              </p>
              <div class="priorities">
                {dataTypes.map((type) => (
                  <Ranking key={type} type={type} all={all.filter(({ data_type }) => data_type === type)} slugs={slugs} />
                ))}
              </div>
            </div>
          )}
        </QueryView>
      ) : (
        <EmptyState title="No sources">This user has connected no source.</EmptyState>
      )}
    </Card>
  )
}

function Ranking({ type, all, slugs }: { type: DataType; all: Priority[]; slugs: string[] }) {
  const own = all.filter(({ slug }) => slugs.includes(slug))
  const moveUp = async (index: number) => {
    const [above, moved] = [own[index - 1]?.slug, own[index]?.slug]
    if (!above || !moved) return
    const others = all.map(({ slug }) => slug).filter((slug) => slug !== moved)
    const providers = others.toSpliced(others.indexOf(above), 0, moved)
    await api.patchSourcePriorities({ body: [{ data_type: type, providers }] })
    refresh('source-priorities')
    showToast(`${own[index]?.name} now comes before ${own[index - 1]?.name}.`)
  }
  return (
    <section aria-label={`Priorities of ${humanize(type)}`}>
      <h3>{humanize(type)}</h3>
      <ol>
        {own.map(({ slug, name }, i) => (
          <li key={slug} class="row between">
            <span>
              {i + 1}. {name}
            </span>
            {i > 0 && can('data.change') && (
              <AsyncButton small kind="plain" aria-label={`Move up ${name} for ${humanize(type)}`} action={() => moveUp(i)}>
                Move up
              </AsyncButton>
            )}
          </li>
        ))}
      </ol>
    </section>
  )
}
