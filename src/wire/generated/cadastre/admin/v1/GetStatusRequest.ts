// Original file: proto/cadastre/admin/v1/cluster.proto


export interface GetStatusRequest {
}

export interface GetStatusRequest__Output {
}
