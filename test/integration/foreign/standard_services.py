"""A client of gRPC's health and reflection services that shares nothing with ours: Python's grpcio
and protobuf, and messages that are defined here, from the public protocols, not from our files.

It prints what it sees as JSON, one object per line; the test judges it.

    standard_services.py reflect ADDRESS PROTO_DIR
    standard_services.py health ADDRESS SERVICE...
    standard_services.py watch ADDRESS SERVICE
    standard_services.py describe OUR_DIR PROTO_DIR...
"""

import difflib
import json
import os
import subprocess
import sys
import tempfile

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory

DEADLINE_S = 20


# ---- The two protocols, as grpc-proto publishes them: "field:number:type", * is repeated, | oneof.

HEALTH = {
    "HealthCheckRequest": ["service:1:string"],
    "HealthCheckResponse": ["status:1:int32"],
    "HealthListRequest": [],
    "HealthListEntry": ["key:1:string", "value:2:HealthCheckResponse"],
    "HealthListResponse": ["statuses:1:*HealthListEntry"],
}
REFLECTION = {
    "ServerReflectionRequest": [
        "host:1:string",
        "file_by_filename:3:|string",
        "file_containing_symbol:4:|string",
        "file_containing_extension:5:|ExtensionRequest",
        "all_extension_numbers_of_type:6:|string",
        "list_services:7:|string",
    ],
    "ExtensionRequest": ["containing_type:1:string", "extension_number:2:int32"],
    "ServerReflectionResponse": [
        "valid_host:1:string",
        "original_request:2:ServerReflectionRequest",
        "file_descriptor_response:4:|FileDescriptorResponse",
        "all_extension_numbers_response:5:|ExtensionNumberResponse",
        "list_services_response:6:|ListServiceResponse",
        "error_response:7:|ErrorResponse",
    ],
    "FileDescriptorResponse": ["file_descriptor_proto:1:*bytes"],
    "ExtensionNumberResponse": ["base_type_name:1:string", "extension_number:2:*int32"],
    "ListServiceResponse": ["service:1:*ServiceResponse"],
    "ServiceResponse": ["name:1:string"],
    "ErrorResponse": ["error_code:1:int32", "error_message:2:string"],
}
STATUSES = ["UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"]


def classes_of(package, messages):
    """Message classes by name, in a pool of their own."""
    kinds = descriptor_pb2.FieldDescriptorProto
    scalars = {"string": kinds.TYPE_STRING, "bytes": kinds.TYPE_BYTES, "int32": kinds.TYPE_INT32}
    file = descriptor_pb2.FileDescriptorProto(name="own.proto", package=package, syntax="proto3")
    for name, fields in messages.items():
        message = file.message_type.add(name=name)
        for spelt in fields:
            field_name, number, kind = spelt.split(":")
            field = message.field.add(name=field_name, number=int(number))
            field.label = kinds.LABEL_REPEATED if kind[0] == "*" else kinds.LABEL_OPTIONAL
            if kind[0] == "|":
                if not message.oneof_decl:
                    message.oneof_decl.add(name="kind")
                field.oneof_index = 0
            kind = kind.lstrip("*|")
            field.type = scalars.get(kind, kinds.TYPE_MESSAGE)
            if kind not in scalars:
                field.type_name = f".{package}.{kind}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {name: class_of(pool, f"{package}.{name}") for name in messages}


def class_of(pool, name):
    return message_factory.MessageFactory(pool).GetPrototype(pool.FindMessageTypeByName(name))


# ---- Reflection.


class Reflection:
    """One stream for all questions, as grpcurl has it. Also a database for a descriptor pool."""

    def __init__(self, channel, package):
        self.types = classes_of(package, REFLECTION)
        self.files = {}
        self.asked = []
        call = channel.stream_stream(
            f"/{package}.ServerReflection/ServerReflectionInfo",
            request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=self.types["ServerReflectionResponse"].FromString,
        )
        self.questions = Questions()
        self.answers = call(self.questions, timeout=DEADLINE_S)

    def ask(self, **question):
        request = self.types["ServerReflectionRequest"](host="the-host", **question)
        self.questions.put(request)
        answer = next(self.answers)
        assert answer.valid_host == "the-host", answer
        assert answer.original_request == request, answer
        return answer

    def close(self):
        """Says that there are no more questions; answers how the server ends the stream."""
        self.questions.put(None)
        assert next(self.answers, None) is None
        return self.answers.code().name

    def services(self):
        return [one.name for one in self.ask(list_services="*").list_services_response.service]

    def fetch(self, **question):
        answer = self.ask(**question)
        if answer.HasField("error_response"):
            raise KeyError(answer.error_response.error_message)
        files = []
        for data in answer.file_descriptor_response.file_descriptor_proto:
            file = descriptor_pb2.FileDescriptorProto.FromString(data)
            self.files[file.name] = data
            files.append(file)
        return files

    def FindFileByName(self, name):
        return self.fetch(file_by_filename=name)[0]

    def FindFileContainingSymbol(self, symbol):
        return self.fetch(file_containing_symbol=symbol)[0]

    def outcome(self, **question):
        """The answer in short: names of files, or the code of an error."""
        answer = self.ask(**question)
        if answer.HasField("error_response"):
            return grpc_code(answer.error_response.error_code)
        if answer.HasField("all_extension_numbers_response"):
            numbers = answer.all_extension_numbers_response
            return {numbers.base_type_name: list(numbers.extension_number)}
        found = answer.file_descriptor_response.file_descriptor_proto
        return [descriptor_pb2.FileDescriptorProto.FromString(data).name for data in found]


class Questions:
    """An iterator that gives what is put into it; None ends it."""

    def __init__(self):
        import queue

        self.queue = queue.Queue()

    def put(self, request):
        self.queue.put(request)

    def __iter__(self):
        return self

    def __next__(self):
        request = self.queue.get()
        if request is None:
            raise StopIteration
        return request


def grpc_code(number):
    return next(code.name for code in grpc.StatusCode if code.value[0] == number)


SYMBOLS = [
    "cadastre.v1.Directory",
    "cadastre.v1.Directory.Lookup",
    "cadastre.v1.LookupRequest",
    "cadastre.v1.LookupRequest.keyspace",
    "cadastre.v1.Reason",
    "cadastre.v1.NOT_OWNER",
    "google.rpc.BadRequest.FieldViolation",
    "google.rpc.ErrorInfo.MetadataEntry",
    "grpc.health.v1.HealthCheckResponse.ServingStatus",
    "grpc.health.v1.HealthCheckResponse.SERVING",
    "grpc.reflection.v1.ServerReflectionRequest.message_request",
    "cadastre.v1",
    "cadastre.v1.Nothing",
    ".cadastre.v1.Directory",
    "cadastre.peer.v1.Peer",
    "cadastre.peer.v1.Hello",
    "",
]
FILES = [
    "cadastre/v1/directory.proto",
    "google/rpc/status.proto",
    "cadastre/peer/v1/peer.proto",
    "../../package.json",
    "",
]


def reflect(address, proto_dir):
    channel = grpc.insecure_channel(address)
    for package in ["grpc.reflection.v1", "grpc.reflection.v1alpha"]:
        reflection = Reflection(channel, package)
        services = reflection.services()
        pool = descriptor_pool.DescriptorPool(reflection)
        methods = {name: methods_of(pool.FindServiceByName(name)) for name in services}
        outcomes = {
            "symbols": {name: reflection.outcome(file_containing_symbol=name) for name in SYMBOLS},
            "files": {name: reflection.outcome(file_by_filename=name) for name in FILES},
            "extension": reflection.outcome(
                file_containing_extension={
                    "containing_type": "cadastre.v1.Route",
                    "extension_number": 100,
                }
            ),
            "extensionNumbers": reflection.outcome(
                all_extension_numbers_of_type="cadastre.v1.Route"
            ),
            "extensionNumbersOfNothing": reflection.outcome(
                all_extension_numbers_of_type="cadastre.v1.Nothing"
            ),
            "nothingAsked": reflection.outcome(),
        }
        # Of errors only: the pool has asked for the rest.
        reflection.fetch(file_containing_symbol="google.rpc.Status")
        reflection.fetch(file_containing_symbol="google.rpc.ErrorInfo")
        reflection.fetch(file_containing_symbol="cadastre.v1.Reason")
        say(
            {
                "package": package,
                "services": services,
                "methods": methods,
                **outcomes,
                "differences": differences(reflection.files, [proto_dir]),
                "calls": calls(channel, pool),
                "end": reflection.close(),
            }
        )


def methods_of(service):
    return {
        one.name: [one.input_type.full_name, one.output_type.full_name] for one in service.methods
    }


def calls(channel, pool):
    """Two calls of our API by a client that has nothing but what reflection gave it."""
    get_status = dynamic_method(channel, pool, "cadastre.admin.v1.Cluster", "GetStatus")
    status = json_format.MessageToDict(get_status({}))
    lookup = dynamic_method(channel, pool, "cadastre.v1.Directory", "Lookup")
    try:
        lookup({"keyspace": "no such keyspace!"})
        error = None
    except grpc.RpcError as failure:
        error = {"code": failure.code().name, "details": details_of(failure, pool)}
    return {"clusterName": status.get("clusterName"), "error": error}


def dynamic_method(channel, pool, service_name, method_name):
    method = pool.FindServiceByName(service_name).FindMethodByName(method_name)
    factory = message_factory.MessageFactory(pool)
    request_type = factory.GetPrototype(method.input_type)
    call = channel.unary_unary(
        f"/{service_name}/{method_name}",
        request_serializer=lambda message: message.SerializeToString(),
        response_deserializer=factory.GetPrototype(method.output_type).FromString,
    )
    return lambda fields: call(json_format.ParseDict(fields, request_type()), timeout=DEADLINE_S)


def details_of(failure, pool):
    data = dict(failure.trailing_metadata())["grpc-status-details-bin"]
    status = class_of(pool, "google.rpc.Status").FromString(data)
    found = {}
    for detail in status.details:
        name = detail.type_url.split("/")[-1]
        message = class_of(pool, name).FromString(detail.value)
        found[name] = json_format.MessageToDict(message)
    return found


# ---- Descriptors, held against protoc's.


def differences(files, proto_dirs):
    """Where the descriptors of these files are not those that protoc makes of them."""
    with tempfile.TemporaryDirectory() as directory:
        output = os.path.join(directory, "set.bin")
        paths = [f"--proto_path={one}" for one in proto_dirs]
        command = ["protoc", *paths, f"--descriptor_set_out={output}", "--include_imports"]
        subprocess.run([*command, *files], check=True)
        with open(output, "rb") as set_file:
            made = descriptor_pb2.FileDescriptorSet.FromString(set_file.read()).file
    expected = {file.name: file for file in made}
    found = [f"{name} is missing" for name in sorted(set(expected) - set(files))]
    for name in sorted(files):
        found += difference(files[name], expected[name])
    return found


def difference(data, expected):
    """Byte by byte, but for the order of nested types: entries of maps stand among them."""
    file = descriptor_pb2.FileDescriptorProto.FromString(data)
    for one in (file, expected):
        for message in one.message_type:
            sort_nested(message)
    forms = [one.SerializeToString(deterministic=True) for one in (file, expected)]
    if forms[0] == forms[1]:
        return []
    texts = [str(one).splitlines() for one in (file, expected)]
    return [f"{expected.name} differs", *difflib.unified_diff(*texts, "ours", "protoc", n=4)]


def sort_nested(message):
    nested = sorted(message.nested_type, key=lambda one: one.name)
    copies = [descriptor_pb2.DescriptorProto.FromString(one.SerializeToString()) for one in nested]
    del message.nested_type[:]
    for copy in copies:
        sort_nested(copy)
        message.nested_type.append(copy)


def describe(our_dir, *proto_dirs):
    """`our_dir` holds serialized descriptors under the names of their files."""
    files = {}
    for folder, _, names in os.walk(our_dir):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                files[os.path.relpath(path, our_dir)] = file.read()
    say({"files": sorted(files), "differences": differences(files, proto_dirs)})


# ---- Health.


def health_call(channel, kind, method, answer):
    types = classes_of("grpc.health.v1", HEALTH)
    call = getattr(channel, kind)(
        f"/grpc.health.v1.Health/{method}",
        request_serializer=lambda message: message.SerializeToString(),
        response_deserializer=types[answer].FromString,
    )
    return types, call


def health(address, *services):
    channel = grpc.insecure_channel(address)
    types, check = health_call(channel, "unary_unary", "Check", "HealthCheckResponse")
    checks = {}
    for service in services:
        try:
            request = types["HealthCheckRequest"](service=service)
            checks[service] = STATUSES[check(request, timeout=DEADLINE_S).status]
        except grpc.RpcError as failure:
            checks[service] = failure.code().name
    types, list_all = health_call(channel, "unary_unary", "List", "HealthListResponse")
    listed = list_all(types["HealthListRequest"](), timeout=DEADLINE_S).statuses
    say({"checks": checks, "list": {one.key: STATUSES[one.value.status] for one in listed}})


def watch(address, service):
    channel = grpc.insecure_channel(address)
    types, start = health_call(channel, "unary_stream", "Watch", "HealthCheckResponse")
    stream = start(types["HealthCheckRequest"](service=service))
    try:
        for answer in stream:
            say({"status": STATUSES[answer.status]})
    except grpc.RpcError:
        pass
    say({"end": stream.code().name})


def say(fact):
    print(json.dumps(fact), flush=True)


COMMANDS = {"reflect": reflect, "health": health, "watch": watch, "describe": describe}

if __name__ == "__main__":
    COMMANDS[sys.argv[1]](*sys.argv[2:])
