/* Preloaded into a process, records what it does to the files of one folder: every write, cut, rename and sync, in order.
 *
 * MEMSPAN_RECORD_FOLDER: the folder. MEMSPAN_RECORD_LOG: where the record goes, a text line for each operation and the written bytes
 * behind it. Descriptors that were opened with O_DSYNC or O_SYNC are marked: their writes are on disk when they return.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int record = -1;
static const char *folder;

#define REAL(name, type) ((type)dlsym(RTLD_NEXT, name))
typedef ssize_t (*write_type)(int, const void *, size_t);
typedef ssize_t (*pwrite_type)(int, const void *, size_t, off_t);
typedef ssize_t (*pwritev_type)(int, const struct iovec *, int, off_t);
typedef int (*fd_type)(int);

static void start(void) {
    if (folder) return;
    folder = getenv("MEMSPAN_RECORD_FOLDER");
    const char *log = getenv("MEMSPAN_RECORD_LOG");
    if (!folder || !log) { folder = ""; return; }
    record = REAL("open", int (*)(const char *, int, ...))(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

/* The path of a descriptor below the folder, or NULL. */
static const char *below(int fd, char *path) {
    char link[64];
    start();
    if (record < 0 || fd == record) return NULL;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    if (length < 0) return NULL;
    path[length] = 0;
    size_t own = strlen(folder);
    if (strncmp(path, folder, own) || (path[own] && path[own] != '/')) return NULL;
    return path[own] ? path + own + 1 : ".";
}

static int is_below(const char *path) {
    start();
    return record >= 0 && !strncmp(path, folder, strlen(folder));
}

static void note(const char *what, const char *path, const char *other, long long at, const struct iovec *parts, int count) {
    char line[2 * PATH_MAX + 100];
    long long bytes = 0;
    for (int i = 0; i < count; i++) bytes += parts[i].iov_len;
    int length = snprintf(line, sizeof line, "%s\t%s\t%s\t%lld\t%lld\n", what, path, other, at, bytes);
    write_type out = REAL("write", write_type);
    if (out(record, line, length) != length) abort();
    for (int i = 0; i < count; i++)
        if (out(record, parts[i].iov_base, parts[i].iov_len) != (ssize_t)parts[i].iov_len) abort();
}

static const char *kind(int fd) { return fcntl(fd, F_GETFL) & O_DSYNC ? "synced" : "write"; }

/* Does and records under one lock, so that the record has the order in which it was done. */
#define RECORDED(type, does, good, notes)            \
    pthread_mutex_lock(&mutex);                      \
    type done = does;                                \
    if (good) { notes; }                             \
    pthread_mutex_unlock(&mutex);                    \
    return done

ssize_t write(int fd, const void *from, size_t size) {
    char path[PATH_MAX];
    const char *name = below(fd, path);
    if (!name) return REAL("write", write_type)(fd, from, size);
    struct iovec part = {(void *)from, 0};
    off_t at = fcntl(fd, F_GETFL) & O_APPEND ? lseek(fd, 0, SEEK_END) : lseek(fd, 0, SEEK_CUR);
    RECORDED(ssize_t, REAL("write", write_type)(fd, from, size), done > 0, part.iov_len = done; note(kind(fd), name, "", at, &part, 1));
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
    typedef ssize_t (*type)(int, const struct iovec *, int);
    char path[PATH_MAX];
    const char *name = below(fd, path);
    if (!name) return REAL("writev", type)(fd, parts, count);
    off_t at = lseek(fd, 0, SEEK_CUR);
    RECORDED(ssize_t, REAL("writev", type)(fd, parts, count), done > 0, note(kind(fd), name, "", at, parts, count));
}

ssize_t pwrite(int fd, const void *from, size_t size, off_t at) {
    char path[PATH_MAX];
    const char *name = below(fd, path);
    if (!name) return REAL("pwrite", pwrite_type)(fd, from, size, at);
    struct iovec part = {(void *)from, 0};
    RECORDED(ssize_t, REAL("pwrite", pwrite_type)(fd, from, size, at), done > 0, part.iov_len = done; note(kind(fd), name, "", at, &part, 1));
}
ssize_t pwrite64(int fd, const void *from, size_t size, off_t at) { return pwrite(fd, from, size, at); }

ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t at) {
    char path[PATH_MAX];
    const char *name = below(fd, path);
    if (!name) return REAL("pwritev", pwritev_type)(fd, parts, count, at);
    RECORDED(ssize_t, REAL("pwritev", pwritev_type)(fd, parts, count, at), done > 0, note(kind(fd), name, "", at, parts, count));
}
ssize_t pwritev64(int fd, const struct iovec *parts, int count, off_t at) { return pwritev(fd, parts, count, at); }

int ftruncate(int fd, off_t size) {
    char path[PATH_MAX];
    const char *name = below(fd, path);
    if (!name) return REAL("ftruncate", int (*)(int, off_t))(fd, size);
    RECORDED(int, REAL("ftruncate", int (*)(int, off_t))(fd, size), !done, note("cut", name, "", size, NULL, 0));
}
int ftruncate64(int fd, off_t size) { return ftruncate(fd, size); }

static int sync_of(int fd, const char *how) {
    char path[PATH_MAX];
    const char *name = below(fd, path);
    if (!name) return REAL(how, fd_type)(fd);
    RECORDED(int, REAL(how, fd_type)(fd), !done, note("sync", name, "", 0, NULL, 0));
}
int fsync(int fd) { return sync_of(fd, "fsync"); }
int fdatasync(int fd) { return sync_of(fd, "fdatasync"); }

int rename(const char *from, const char *to) {
    typedef int (*type)(const char *, const char *);
    if (!is_below(from) || !is_below(to)) return REAL("rename", type)(from, to);
    size_t own = strlen(folder) + 1;
    RECORDED(int, REAL("rename", type)(from, to), !done, note("rename", from + own, to + own, 0, NULL, 0));
}

int unlink(const char *path) {
    if (!is_below(path)) return REAL("unlink", int (*)(const char *))(path);
    RECORDED(int, REAL("unlink", int (*)(const char *))(path), !done, note("unlink", path + strlen(folder) + 1, "", 0, NULL, 0));
}

int rmdir(const char *path) {
    if (!is_below(path)) return REAL("rmdir", int (*)(const char *))(path);
    RECORDED(int, REAL("rmdir", int (*)(const char *))(path), !done, note("unlink", path + strlen(folder) + 1, "", 0, NULL, 0));
}

int unlinkat(int fd, const char *given, int flags) {
    typedef int (*type)(int, const char *, int);
    char path[PATH_MAX], whole[2 * PATH_MAX];
    const char *name = fd == AT_FDCWD ? (is_below(given) ? given + strlen(folder) + 1 : NULL) : below(fd, path);
    if (!name) return REAL("unlinkat", type)(fd, given, flags);
    if (fd == AT_FDCWD) snprintf(whole, sizeof whole, "%s", name);
    else snprintf(whole, sizeof whole, "%s/%s", name, given);
    RECORDED(int, REAL("unlinkat", type)(fd, given, flags), !done, note("unlink", whole, "", 0, NULL, 0));
}

static int made(const char *how, const char *path, int flags, mode_t mode) {
    typedef int (*type)(const char *, int, ...);
    if (!is_below(path) || !(flags & O_CREAT)) return REAL(how, type)(path, flags, mode);
    RECORDED(int, REAL(how, type)(path, flags, mode), done >= 0, note(flags & O_TRUNC ? "empty" : "make", path + strlen(folder) + 1, "", 0, NULL, 0));
}

#define MODE                                         \
    va_list more;                                    \
    va_start(more, flags);                           \
    mode_t mode = flags & O_CREAT ? va_arg(more, int) : 0; \
    va_end(more)
int open(const char *path, int flags, ...) { MODE; return made("open", path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE; return made("open64", path, flags, mode); }

int mkdir(const char *path, mode_t mode) {
    if (!is_below(path)) return REAL("mkdir", int (*)(const char *, mode_t))(path, mode);
    RECORDED(int, REAL("mkdir", int (*)(const char *, mode_t))(path, mode), !done && strlen(path) > strlen(folder), note("mkdir", path + strlen(folder) + 1, "", 0, NULL, 0));
}
