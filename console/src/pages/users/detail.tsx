import { Head } from '../../ui/head.tsx'

export const UserDetail = () => <Head title="UserDetail" />
