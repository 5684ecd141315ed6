import { Head } from '../../ui/head.tsx'

export const People = () => <Head title="People" />
